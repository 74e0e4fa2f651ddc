// The keys of organizations that take payments with an account of their own, sealed.
import { type Db, query } from '../db/database.ts'
import type { StripeSecrets } from './payments/open.ts'
import { sealedColumns } from './sealed-columns.ts'
import type { Secrets } from './secrets.ts'

export interface CredentialsRow {
	readonly organizationId: string
	readonly processor: 'stripe'
	readonly sealed: string
	readonly secretKeyLastFour: string
	readonly webhookSecretLastFour: string
	readonly updatedAt: number
}

export function sealCredentials(secrets: Secrets, organizationId: string, given: StripeSecrets, now: number): CredentialsRow {
	const { secretKey, webhookSecret } = given
	return {
		organizationId,
		processor: 'stripe',
		sealed: secrets.seal(
			sealedColumns.paymentCredentials,
			{ organizationId },
			JSON.stringify({ organizationId, secretKey, webhookSecret }),
		),
		secretKeyLastFour: secretKey.slice(-4),
		webhookSecretLastFour: webhookSecret.slice(-4),
		updatedAt: now,
	}
}

/** Undefined when the server lost the sealing key, or the row was another organization's. */
export function openCredentials(secrets: Secrets, { organizationId, sealed }: CredentialsRow): StripeSecrets | undefined {
	const text = secrets.unseal(sealedColumns.paymentCredentials, { organizationId }, sealed)
	// What an older version sealed says only inside whose it is.
	const opened = text === undefined ? undefined : (JSON.parse(text) as StripeSecrets & { organizationId: string })
	return opened?.organizationId === organizationId ? opened : undefined
}

const one = query<{ organizationId: string }, CredentialsRow>((knex, key) => knex('payment_credentials').where(key).select('*'))

export const findCredentials = (db: Db, organizationId: string) => db.get(one, { organizationId })

const save = query<CredentialsRow>((knex, row) => knex('payment_credentials').insert(row).onConflict('organizationId').merge())

export const saveCredentials = (db: Db, row: CredentialsRow) => db.run(save, row)

const remove = query<{ organizationId: string }>((knex, key) => knex('payment_credentials').where(key).delete())

/** True when there were any. */
export const removeCredentials = async (db: Db, organizationId: string) => (await db.run(remove, { organizationId })) > 0
