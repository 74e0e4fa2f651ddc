// One call to a provider that answers JSON. Nothing that the provider does makes it last longer than its time limit or take more
// memory than its limit of bytes, and what it throws says nothing of the credentials or of the server's own network.
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { version } from '../../contract/document.ts'
import { shapeReader } from '../../contract/json-shape.ts'
import { type Egress, UnresolvableUrl, UnsafeUrl } from '../egress.ts'
import { findCause, reason } from '../http.ts'
import { ProxyFailed } from '../proxy.ts'
import { ResolverUnavailable } from '../resolver.ts'
import { keepLongIntegers } from './long-integers.ts'

export interface OutsideCall {
	readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
	readonly url: string
	readonly headers: Readonly<Record<string, string>>
	readonly body?: string
}

export interface CallLimits {
	/** For the whole call, from the look-up of the host to the last byte. */
	readonly timeoutMs: number
	/** The most bytes of an answer, compressed and not. */
	readonly maxBytes: number
	readonly signal?: AbortSignal | undefined
	/** Called with the bytes that an answer takes of the memory, as they come; what it throws ends the call. */
	readonly taken?: (bytes: number) => void
}

export interface OutsideAnswer {
	readonly status: number
	readonly headers: IncomingHttpHeaders
	readonly text: string
	/** Bytes of the body as the socket brought them, compressed or not. */
	readonly bytes: number
}

type Failure = 'unreachable' | 'timeout' | 'invalid_answer' | 'answer_too_large' | 'unsafe_url'

/** The call has no answer that can be used. The message is for the API's caller. */
export class CallFailed extends Error {
	readonly code: Failure
	/** Whether nothing was sent, so that the provider cannot have done anything. */
	readonly isUnsent: boolean

	constructor(code: Failure, message: string, cause?: unknown, isUnsent = false) {
		super(message, { cause })
		this.code = code
		this.isUnsent = isUnsent
	}
}

/** Makes a call and returns its answer, whatever its status, with its body as text. Redirects are answers. */
export async function call(egress: Egress, request: OutsideCall, limits: CallLimits): Promise<OutsideAnswer> {
	const { timeoutMs, signal } = limits
	const timer = AbortSignal.timeout(timeoutMs)
	const ended = signal ? AbortSignal.any([signal, timer]) : timer
	// undici ignores a signal until it has a connection.
	const broken = Promise.withResolvers<never>()
	const breakOff = () => broken.reject(ended.reason)
	ended.addEventListener('abort', breakOff)
	try {
		if (ended.aborted) throw ended.reason
		return await Promise.race([receive(egress, request, limits, ended), broken.promise])
	} catch (error) {
		if (signal?.aborted) throw signal.reason
		if (timer.aborted) throw new CallFailed('timeout', `There was no complete answer within ${timeoutMs / 1000} s.`)
		throw failureOf(error)
	} finally {
		ended.removeEventListener('abort', breakOff)
	}
}

/** As `call`, with what the JSON of a 2xx answer says. */
export async function callJson(
	egress: Egress,
	request: OutsideCall,
	limits: CallLimits,
): Promise<Omit<OutsideAnswer, 'text'> & { readonly json: unknown }> {
	const { status, headers, text, bytes } = await call(egress, request, limits)
	if (status >= 300 && status < 400)
		throw new CallFailed('invalid_answer', `The provider answered ${status}, a redirect, which is not followed.`)
	if (status < 200 || status > 299) return { status, headers, bytes, json: undefined }
	return { status, headers, bytes, json: parseJson(text, headers['content-type']) }
}

/** What an answer says in JSON; throws CallFailed with words for what it is instead. */
export function parseJson(text: string, type: string | undefined): unknown {
	try {
		return JSON.parse(keepLongIntegers(text))
	} catch {
		const isHtml = /html/i.test(type ?? '') || /^\s*</.test(text)
		const what = text.trim() === '' ? 'nothing' : isHtml ? 'a page (HTML) and not JSON' : 'no JSON, or only a part of it'
		throw new CallFailed('invalid_answer', `The provider answered ${what}.`)
	}
}

async function receive(
	egress: Egress,
	{ method, url, headers, body }: OutsideCall,
	limits: CallLimits,
	signal: AbortSignal,
): Promise<OutsideAnswer> {
	const { origin, pathname, search } = new URL(url)
	const dispatcher = await egress.dispatcher()
	const answer = await dispatcher.request({
		origin,
		path: pathname + search,
		method,
		headers: { accept: 'application/json', 'accept-encoding': 'gzip', 'user-agent': `Remit/${version}`, ...headers },
		...(body !== undefined && { body }),
		headersTimeout: 0,
		bodyTimeout: 0,
		signal,
	})
	const status = answer.statusCode
	const read = await readText(answer.body, String(answer.headers['content-encoding'] ?? ''), limits).catch((error) => {
		// What was refused is refused, and until when, whatever becomes of the words about it.
		if (status < 400) throw error
		return { text: '', bytes: 0 }
	})
	return { status, headers: answer.headers, ...read }
}

const decoders: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
	gzip: createGunzip,
	'x-gzip': createGunzip,
	deflate: createInflate,
	br: createBrotliDecompress,
}

/** More than a page of a provider has. Parsing as much takes 0.12 s of the event loop at worst: 8 MiB of `{}` take 0.5 s. */
const mostShape = { depth: Number.POSITIVE_INFINITY, names: 50_000, parts: 160_000 }

/** Reads a body to its end, one chunk at a time, so that what it decompresses to is never there as a whole. */
async function readText(body: Readable, encoding: string, { maxBytes, taken }: CallLimits) {
	// A body that is not read to its end says so once it is destroyed, to nobody else.
	body.on('error', () => {})
	const open = decoders[encoding.toLowerCase()]
	if (!open && !['', 'identity'].includes(encoding.toLowerCase())) {
		body.destroy()
		throw new CallFailed('invalid_answer', 'The answer is compressed in a way that Remit does not read.')
	}
	const decoder = open?.()
	// A destroyed body rejects the loop below through its decoder.
	if (decoder) body.once('error', (error) => (decoder as unknown as Readable).destroy(error))
	const chunks: Buffer[] = []
	let bytes = 0
	let length = 0
	const tooLarge = () => new CallFailed('answer_too_large', `The answer is larger than ${maxBytes} bytes.`)
	const excessOf = shapeReader(mostShape)
	const source = decoder ? (body.pipe(decoder) as unknown as Readable) : body
	if (decoder)
		body.on('data', (chunk: Buffer) => {
			bytes += chunk.length
			// Compressed bytes may come without end and mean nothing.
			if (bytes > maxBytes) body.destroy(tooLarge())
		})
	try {
		for await (const chunk of source) {
			length += chunk.length
			if (length > maxBytes) throw tooLarge()
			const excess = excessOf(chunk)
			if (excess) throw new CallFailed('answer_too_large', `The answer ${excess}.`)
			taken?.(chunk.length)
			chunks.push(chunk)
		}
	} finally {
		// A body that is not read to its end would keep its socket.
		body.destroy()
	}
	// Without a byte order mark, with which some begin.
	return { text: new TextDecoder().decode(Buffer.concat(chunks)), bytes: decoder ? bytes : length }
}

function failureOf(error: unknown): CallFailed {
	if (error instanceof CallFailed) return error
	const unsafe = findCause(error, UnsafeUrl)
	if (unsafe) return new CallFailed('unsafe_url', unsafe.message, undefined, true)
	const unknown = findCause(error, UnresolvableUrl, ResolverUnavailable, ProxyFailed)
	if (unknown) return new CallFailed('unreachable', unknown.message, undefined, true)
	const code = String((error as { code?: unknown }).code)
	if (/^(Z_|ERR__ERROR_FORMAT)/.test(code))
		return new CallFailed('invalid_answer', 'The answer is compressed, and broken.', error)
	return new CallFailed('unreachable', `The call failed: ${reason(error)}.`, error, unsent.test(code))
}

/** There was no connection. */
const unsent =
	/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/
