// What is traced: requests, transactions and calls of other servers, by OpenTelemetry. Loaded only where a collector is set (open.ts);
// elsewhere nothing of it runs.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { Database } from '../../db/database.ts'
import type { Mailer } from '../mail/mail.ts'
import type { PaymentProcessor } from '../payments/processor.ts'

/** What a span says of a request; its steps may not have learned it. */
interface Known {
	readonly context?: {
		readonly requestId: string
		readonly operation?: { readonly id: string; readonly path: string }
		readonly caller?: { readonly organizationId: string }
	}
}

/** A call that is under way. */
export interface TracedCall {
	/** By which its receiver goes on with the trace. */
	readonly headers: Readonly<Record<string, string>>
	/** `error` is null for a success. */
	end(error: string | null): void
}

export class Traces {
	readonly #tracer: Tracer
	readonly #current = new AsyncLocalStorage<Context>()
	readonly #close: (ms: number) => Promise<void>

	constructor(tracer: Tracer, close: (ms: number) => Promise<void>) {
		this.#tracer = tracer
		this.#close = close
	}

	/** Sends what is not sent yet; takes no longer than `ms`. */
	close(ms: number): Promise<void> {
		return this.#close(ms)
	}

	/** Runs a request as a span, which goes on with the caller's trace. No path: it may be the token of a client link. */
	request(req: IncomingMessage, res: ServerResponse, run: () => void): void {
		const parent = parentOf(req.headers.traceparent)
		const span = this.#tracer.startSpan('request', { kind: SpanKind.SERVER }, parent)
		res.once('close', () => {
			const { context } = req as Known
			span.updateName(context?.operation?.id ?? 'other')
			span.setAttributes({
				'http.request.method': req.method ?? '',
				'http.response.status_code': res.statusCode,
				...(context && { 'remit.request_id': context.requestId }),
				...(context?.operation && { 'http.route': context.operation.path }),
				...(context?.caller && { 'remit.organization_id': context.caller.organizationId }),
			})
			if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
			if (!res.writableFinished) span.addEvent('the client hung up')
			span.end()
		})
		this.#current.run(trace.setSpan(parent, span), run)
	}

	/** A call that has a trace of its own, such as an attempt of a webhook. */
	begin(name: string, attributes: Readonly<Record<string, string>>): TracedCall {
		const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, ROOT_CONTEXT)
		return { headers: { traceparent: headerOf(span) }, end: (error) => end(span, error) }
	}

	/** Transactions as spans of what asks for them. */
	database(db: Database): Database {
		return {
			...db,
			transaction: (work, options) =>
				this.#run('transaction', SpanKind.INTERNAL, () => {
					const inContext = AsyncLocalStorage.snapshot()
					return db.transaction((tx) => inContext(work, tx), options)
				}),
		}
	}

	mailer(mailer: Mailer): Mailer {
		return { ...mailer, send: (mail) => this.#run('mail.send', SpanKind.CLIENT, () => mailer.send(mail)) }
	}

	processor(processor: PaymentProcessor): PaymentProcessor {
		return {
			name: processor.name,
			get pages() {
				return processor.pages
			},
			create: (request) => this.#run('payments.create', SpanKind.CLIENT, () => processor.create(request)),
			deactivate: (id) => this.#run('payments.deactivate', SpanKind.CLIENT, () => processor.deactivate(id)),
			readWebhook: (body, headers, now) => processor.readWebhook(body, headers, now),
		}
	}

	/** Only inside of a request: work that repeats without one would fill the collector with nothing. */
	async #run<T>(name: string, kind: SpanKind, work: () => Promise<T>): Promise<T> {
		const parent = this.#current.getStore()
		if (!parent) return work()
		const span = this.#tracer.startSpan(name, { kind }, parent)
		try {
			const value = await this.#current.run(trace.setSpan(parent, span), work)
			end(span, null)
			return value
		} catch (error) {
			end(span, error instanceof Error ? error.name : 'Error')
			throw error
		}
	}
}

function end(span: Span, error: string | null): void {
	if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error })
	span.end()
}

const header = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** By W3C Trace Context; one that is not valid begins no trace of ours. */
function parentOf(traceparent: string | string[] | undefined): Context {
	const [, traceId, spanId, flags] = header.exec(String(traceparent)) ?? []
	if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
	return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true })
}

function headerOf(span: Span): string {
	const { traceId, spanId, traceFlags } = span.spanContext()
	return `00-${traceId}-${spanId}-0${traceFlags & 1}`
}
