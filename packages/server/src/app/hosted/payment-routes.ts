// The webhooks of payment processors, and the page of the built-in test processor. The processors define these requests, not
// the contract.

import express, { type NextFunction, type Request, type RequestHandler, type Response, type Router } from 'express'
import {
	amountDue,
	findInvoice,
	findLinkByExternalId,
	type PaymentLink,
	paymentState,
	receivePayment,
	returnUrls,
	type StoredInvoice,
	snapshotOf,
	whyNothing,
} from '../../billing/doors.ts'
import { ApiError, methodNotAllowed } from '../../platform/base/errors.ts'
import { formatMoney } from '../../platform/base/format.ts'
import type { Database } from '../../platform/db/database.ts'
import { send } from '../../platform/http/answers.ts'
import { type Addressed, originOf } from '../../platform/http/request-context.ts'
import { countWrong } from '../../platform/http/steps/authenticate.ts'
import { InvalidWebhook, type PaymentProcessor } from '../../platform/outside/payments/processor.ts'
import { testPaymentSecret } from '../../platform/outside/secrets.ts'
import { type HostedOptions, redirect, sendPage } from './routes.ts'
import { testPaymentPage } from './test-payment-page.ts'

/** Larger than any event of Stripe's. */
const webhookLimit = 512 * 1024

/** Where the accounts of organizations send theirs, each signed with its own secret. */
const ownPath = '/payments/stripe/webhook/:organizationId'

type OwnRequest = Request<{ organizationId: string }>
type OwnResponse = Response<unknown, { own: PaymentProcessor }>

const received = { status: 200, headers: {}, text: '{"received":true}' }

export const bytesOf = ({ body }: { body?: unknown }): Uint8Array => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** The webhooks. Only those with a wrong signature are counted: a processor reports the payments of all organizations. */
export function processorWebhooks(options: HostedOptions): Router {
	const { limits } = options
	const router = express.Router()
	// Nobody makes the server hold bytes for an account that is not there.
	const findAccount = async ({ params: { organizationId } }: OwnRequest, res: OwnResponse, next: NextFunction) => {
		const own = await options.services.payments.own(options.db, organizationId)
		if (!own) throw new ApiError('route_not_found', 'No account sends its webhooks here.')
		res.locals.own = own
		next()
	}
	router.post(ownPath, findAccount, readBytes, async (req: OwnRequest, res: OwnResponse) => {
		await takeWebhook(options, res.locals.own, req, bytesOf(req), req.headers, req.params.organizationId)
		send(req, res, received)
	})
	const payments = options.services.payments.server
	if (payments) {
		router.post(`/payments/${payments.name}/webhook`, readBytes, async (req: Request, res: Response) => {
			await takeWebhook(options, payments, req, bytesOf(req), req.headers)
			send(req, res, received)
		})
	}
	router.use('/payments', countWrong(limits, 'signature', isOfSender))
	return router
}

/** Whether an error is about what was sent, such as its signature, and not of the server. */
export const isOfSender = ({ status = 500 }: Partial<ApiError>) => status < 500

export function paymentRoutes(options: HostedOptions): Router {
	const router = express.Router()
	const payments = options.services.payments.server
	for (const path of [ownPath, ...(payments ? [`/payments/${payments.name}/webhook`] : [])]) {
		router.all(path, (req) => {
			throw methodNotAllowed(req.path, req.method, 'POST')
		})
	}
	if (payments?.name === 'test') router.use('/pay/test/:externalId', testPage(options, payments))
	return router
}

const raw = express.raw({ limit: webhookLimit, type: () => true, inflate: false })

/** Reads the body as bytes, since the signature covers the bytes. */
export const readBytes: RequestHandler = (req, res, next) => raw(req, res, (error) => (error ? next(unreadable(error)) : next()))

function unreadable(cause: Error & { type?: string }): ApiError {
	if (cause.type === 'entity.too.large') {
		return new ApiError('payload_too_large', `The webhook is larger than ${webhookLimit / 1024} KiB.`, { cause })
	}
	return new ApiError('invalid_signature', `The webhook did not arrive as it was signed: ${cause.message}.`, { cause })
}

/**
 * The processor delivers again after anything but a 2xx: a payment that no retry can apply is answered 200 too. The account of an
 * organization (`of`) reports payments of this organization only, whatever its webhook says.
 */
async function takeWebhook(
	{ db, now: clock }: HostedOptions,
	processor: PaymentProcessor,
	req: Addressed & Pick<Request, 'context'>,
	body: Uint8Array,
	headers: Request['headers'],
	of?: string,
): Promise<void> {
	const now = clock()
	const payment = await read(processor, body, headers, now)
	if (!payment || (of !== undefined && payment.organizationId !== of)) return
	const origin = originOf(req, { type: 'payment_processor', id: processor.name }, 'payments.webhook', now)
	await receivePayment(db, req.context.log, processor.name, payment, origin)
}

function read(processor: PaymentProcessor, body: Uint8Array, headers: Request['headers'], now: number) {
	try {
		return processor.readWebhook(body, headers, now)
	} catch (error) {
		if (error instanceof InvalidWebhook) throw new ApiError('invalid_signature', error.message, { cause: error })
		throw error
	}
}

/** The built-in processor's page, for development: its button passes a signed webhook through `takeWebhook`, like any other. */
function testPage(options: HostedOptions, processor: PaymentProcessor): Router {
	const { db, services, now } = options
	const router = express.Router({ mergeParams: true })
	router.get('/', async (req: Request<{ externalId: string }>, res) => {
		const { link, invoice } = await linked(db, processor, req.params.externalId, res)
		const { cancelUrl, returnUrl } = await returnUrls(options, link.organizationId, link.invoiceId)
		if (link.status === 'paid') return redirect(req, res, returnUrl)
		const { billFrom, language, locale } = await snapshotOf(db, invoice)
		const amount = formatMoney(link.amountCents, link.currency, locale)
		const page = testPaymentPage({
			language,
			amount,
			seller: billFrom.name,
			number: invoice.invoiceNumber,
			payUrl: link.url,
			cancelUrl,
		})
		sendPage(req, res, 200, page, [new URL(services.baseUrl).origin])
	})
	router.post('/', async (req: Request<{ externalId: string }>, res) => {
		const { link } = await linked(db, processor, req.params.externalId, res)
		const { returnUrl } = await returnUrls(options, link.organizationId, link.invoiceId)
		if (link.status === 'paid') return redirect(req, res, returnUrl)
		const { organizationId, invoiceId, id: linkId, amountCents, currency } = link
		const paid = { organizationId, invoiceId, linkId, amountCents, currency, paidAt: now() }
		// Loaded only here: it loads Stripe's SDK for the signature, which other servers do not need.
		const { signPayment } = await import('../../platform/outside/payments/test-processor.ts')
		const { body, headers } = signPayment(paid, testPaymentSecret(services.secrets))
		await takeWebhook(options, processor, req, body, headers)
		redirect(req, res, returnUrl)
	})
	return router
}

interface Linked {
	readonly link: PaymentLink
	readonly invoice: StoredInvoice
}

/** A link that is live, or by which its invoice was paid. The page about any other is in the language of the invoice, too. */
async function linked(db: Database, { name }: PaymentProcessor, externalId: string, res: Response): Promise<Linked> {
	const link = await findLinkByExternalId(db, name, externalId)
	const invoice = link && (await findInvoice(db, link.organizationId, link.invoiceId))
	if (!invoice) throw gone()
	res.locals.language = (await snapshotOf(db, invoice)).language
	const isPaid = link.status === 'paid' && paymentState(invoice) === 'paid'
	if (link.status === 'live' || isPaid) return { link, invoice }
	if (amountDue(invoice) > 0) throw gone()
	throw new ApiError('nothing_to_pay', `Nothing is owed on the invoice ${invoice.invoiceNumber}: ${whyNothing(invoice)}.`)
}

const gone = () => new ApiError('payment_link_not_found', 'This payment link does not work: it was used, or replaced.')
