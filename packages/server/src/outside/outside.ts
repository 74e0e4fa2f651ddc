// What an operation reaches besides the database.
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { createPdfRenderer, type PdfRenderer } from '../pdf/pdf.ts'
import { openSecrets, type Secrets } from '../secrets.ts'
import { type Mailer, openMailer } from './mail.ts'
import { openPaymentProcessor } from './payments/open.ts'
import type { PaymentProcessor } from './payments.ts'

export interface Outside {
	readonly mailer: Mailer
	/** Absent when the server takes no payments. */
	readonly payments: PaymentProcessor | undefined
	readonly pdf: PdfRenderer
	readonly secrets: Secrets
	/** The server as clients see it, without a slash at the end. */
	readonly baseUrl: string
}

/** `baseUrl` is asked for when it is needed: before the server listens, its port may not be known. */
export async function openOutside(config: Config, baseUrl: () => string): Promise<Outside & { close(): Promise<void> }> {
	const secrets = openSecrets(config)
	const [testSecret = ''] = secrets.tokens('test payments', '')
	const mailer = openMailer({ ...config, SMTP_URL: mailUrl(config) })
	const payments = await openPaymentProcessor({ ...config, PAYMENT_PROCESSOR: processorOf(config), baseUrl, testSecret })
	const pdf = createPdfRenderer()
	return {
		mailer,
		payments,
		pdf,
		secrets,
		get baseUrl() {
			return baseUrl()
		},
		async close() {
			mailer.close()
			await pdf.close()
		},
	}
}

/** With the embedded database everything stands in one folder; who has set up a database sets up mail too. */
function mailUrl({ SMTP_URL, DATABASE_URL, DATA_DIR }: Config): string {
	if (SMTP_URL === 'none') return ''
	return SMTP_URL || (DATABASE_URL ? '' : `file:${join(DATA_DIR, 'mail')}`)
}

const processorOf = ({ PAYMENT_PROCESSOR, NODE_ENV }: Config) =>
	PAYMENT_PROCESSOR || (NODE_ENV === 'production' ? 'none' : 'test')
