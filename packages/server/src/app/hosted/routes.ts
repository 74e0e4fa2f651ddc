// The pages that clients open in a browser. They are not operations of the contract, whose answers are for programs.

import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response, type Router } from 'express'
import {
	clientUrl,
	countView,
	getOrCreatePaymentLink,
	invoicePage,
	type OpenLink,
	openLink,
	pageDocumentOf,
	publicInvoice,
	readViewed,
	receipt,
} from '../../billing/doors.ts'
import type { Invoice, Language } from '../../generated/contract.ts'
import type { RateLimits } from '../../platform/auth/rate-limit.ts'
import { ApiError, methodNotAllowed } from '../../platform/base/errors.ts'
import type { Database } from '../../platform/db/database.ts'
import { loopTurns } from '../../platform/fair/turns.ts'
import { send, toApiError } from '../../platform/http/answers.ts'
import { type AnsweredRequest, logFailure } from '../../platform/http/log-line.ts'
import { isSeen, originOf } from '../../platform/http/request-context.ts'
import { visitorOf } from '../../platform/http/steps/authenticate.ts'
import type { Services } from '../../platform/outside/services.ts'
import { pageHeaders } from '../../platform/rendering/pages/headers.ts'
import { messagePage } from '../../platform/rendering/pages/message-page.ts'
import { languages } from '../../platform/rendering/words/languages.ts'
import type { MessageName } from '../../platform/rendering/words/words.ts'
import { resultPage } from './connect-page.ts'
import { pageNotice } from './test-mode.ts'

export interface HostedOptions {
	readonly db: Database
	readonly services: Services
	/** The address that the server listens on. */
	readonly host: string
	readonly limits: RateLimits
	readonly now: () => number
}

export function hostedPages(options: HostedOptions): Router {
	const router = express.Router()
	router.route('/view/invoice/:token').get(viewInvoice(options)).all(rejectMethod('GET, HEAD'))
	router.route('/view/invoice/:token/pay').post(pay(options)).all(rejectMethod('POST'))
	router.route('/view/invoice/:token/paid').get(paidPage(options)).all(rejectMethod('GET, HEAD'))
	for (const [path, message] of paymentPages) {
		const show: RequestHandler = (req, res) => sendPage(req, res, 200, messagePage(languageOf(req, res), message))
		router.route(path).get(show).all(rejectMethod('GET, HEAD'))
	}
	// A link that a mail program cut gets the page for a broken link, not a problem for programs.
	router.use('/view', () => {
		throw new ApiError('client_link_not_found', 'There is no such page.')
	})
	return router
}

/** The pages for a payer whose invoice has no client link. */
const paymentPages = [
	['/payments/received', 'paymentReceived'],
	['/payments/cancelled', 'paymentCancelled'],
] as const

/** Where errors are pages too. */
export const pagePaths = ['/view', '/pay', '/oauth', '/connect', '/openid', ...paymentPages.map(([path]) => path)]

const rejectMethod =
	(allowed: string): RequestHandler =>
	({ path, method }) => {
		throw methodNotAllowed(path, method, allowed)
	}

/** The language of the invoice that the request is about; of an unknown one, the first of the browser's languages that there is. */
export function languageOf(req: Request, { locals }: Response): Language {
	return locals.language ?? (req.acceptsLanguages(...languages) || 'en')
}

/** The invoice of a link. From then on the pages that answer the request are in its language. */
async function open(db: Database, res: Response, link: OpenLink, now: number): Promise<Invoice> {
	const invoice = await readViewed(db, link, now)
	res.locals.language = invoice.language
	return invoice
}

const visitor = { type: 'client_link', id: null } as const

type PageHandler = (req: Request<{ token: string }>, res: Response) => Promise<void>

const viewInvoice =
	({ db, services, host, limits, now: clock }: HostedOptions): PageHandler =>
	async (req, res) => {
		const { token } = req.params
		const now = clock()
		const link = await openLink(db, token)
		if (isSeen(req) && isByBrowser(req, services)) await countView(db, link, originOf(req, visitor, 'pages.view', now))
		// Views that were committed together would make their pages together. Whoever waits holds no invoice.
		await loopTurns.next(visitorOf(limits, req))
		if (res.closed) return
		const invoice = await open(db, res, link, now)
		const document = await pageDocumentOf(db, invoice)
		const processor = await services.payments.nameOf(db, invoice.organizationId)
		const { pdfUrl, payUrl } = publicInvoice(invoice, token, services.baseUrl, processor !== undefined)
		const notice = await pageNotice(db, { host, processor, organizationId: invoice.organizationId })
		const text = invoicePage({ document, pdfUrl, payUrl: payUrl && `${payUrl}/pay`, notice })
		sendPage(req, res, 200, text, services.payments.pagesOf(processor), document.brand?.accentColor)
	}

/** Browsers tell `https` servers what they fetch a page for (Fetch Metadata). Scanners of mail that only pass for one do not. */
const isByBrowser = ({ headers }: Request<{ token: string }>, { baseUrl }: Services) =>
	!baseUrl.startsWith('https:') || headers['sec-fetch-mode'] === 'navigate'

/** Asks the processor for a link only when the client wants to pay, since the link may expire soon. */
const pay =
	({ db, services, now: clock }: HostedOptions): PageHandler =>
	async (req, res) => {
		const { token } = req.params
		const now = clock()
		const invoice = await open(db, res, await openLink(db, token), now)
		const page = clientUrl(services.baseUrl, token)
		const url = await getOrCreatePaymentLink(db, {
			organizationId: invoice.organizationId,
			invoiceId: invoice.id,
			processor: await services.payments.of(db, invoice.organizationId),
			returnUrl: `${page}/paid`,
			cancelUrl: page,
			origin: originOf(req, visitor, 'pages.pay', now),
		})
		redirect(req, res, url)
	}

/** The receipt, once the processor has reported the payment; it may do so after the payer is back. */
const paidPage =
	({ db, services, now: clock }: HostedOptions): PageHandler =>
	async (req, res) => {
		const { token } = req.params
		const now = clock()
		const invoice = await open(db, res, await openLink(db, token), now)
		const language = languageOf(req, res)
		const invoiceUrl = clientUrl(services.baseUrl, token)
		if (invoice.paymentState !== 'paid') return sendPage(req, res, 200, messagePage(language, 'paymentReceived', { invoiceUrl }))
		const { pdfUrl } = publicInvoice(invoice, token, services.baseUrl, false)
		const shown = receipt(await pageDocumentOf(db, invoice))
		const text = messagePage(language, 'paymentConfirmed', { invoiceUrl, receipt: { ...shown, pdfUrl } })
		sendPage(req, res, 200, text, [], shown.accent)
	}

/** 303 makes the browser GET the other URL, whatever method it used here. */
export function redirect(req: AnsweredRequest, res: Response, url: string): void {
	send(req, res, { status: 303, headers: { Location: url, 'Cache-Control': 'no-store' } })
}

export function sendPage(
	req: AnsweredRequest,
	res: Response,
	status: number,
	text: string,
	targets: readonly string[] = [],
	accent: string | null = null,
): void {
	send(req, res, { status, headers: pageHeaders(targets, accent), text })
}

/** A path that cannot be decoded, such as /view/invoice/%E0, is a broken link. */
export const brokenPath: ErrorRequestHandler = (error, _req, _res, next) =>
	next(error instanceof URIError ? new ApiError('client_link_not_found', 'This is no path.') : error)

/** Shows an error as a page for people; the request's id is in the headers. */
export function failurePage(): ErrorRequestHandler {
	return (error, req, res, next) => {
		const answered = toApiError(error, req)
		const { code, status, headers } = answered
		const message = messageByCode[code]
		if (!message) return next(error)
		logFailure(req.context, error, answered)
		const language = languageOf(req, res)
		const isConnectLink = message === 'linkGone' && req.originalUrl.startsWith('/connect')
		const text = isConnectLink ? resultPage(language, 'linkGone') : messagePage(language, message)
		send(req, res, { status, headers: { ...pageHeaders([]), ...headers }, text })
	}
}

const messageByCode: Record<string, MessageName | undefined> = {
	client_link_not_found: 'linkGone',
	payment_link_not_found: 'linkGone',
	method_not_allowed: 'wrongMethod',
	rate_limited: 'tooManyRequests',
	nothing_to_pay: 'nothingToPay',
	amount_not_payable: 'paymentFailed',
	payment_processor_failed: 'paymentFailed',
	payment_processor_not_configured: 'paymentFailed',
	provider_not_configured: 'failed',
	internal_error: 'failed',
	outcome_unknown: 'outcomeUnknown',
	unavailable: 'failed',
}
