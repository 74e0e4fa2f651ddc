// Reads the body of an operation that has one: JSON in UTF-8, at most 512 KiB unless the operation has a limit of its own.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import { ApiError } from '../../base/errors.ts'
import { shapeReader } from '../../contract/json-shape.ts'
import { operations } from '../../contract/routes.ts'

const limit = 512 * 1024

const parserOf = (bytes: number) => express.json({ limit: bytes, strict: false, type: () => true, verify: noteBytes })
const parse = parserOf(limit)
const parseLarger = new Map(
	operations.flatMap(({ id, bodyLimit }) => (bodyLimit === undefined ? [] : [[id, parserOf(bodyLimit)] as const])),
)

/** Deeper than any body of the contract; 1000 lines, each with the most metadata, have 20,000 names. */
const mostShape = { depth: 32, names: 25_000, parts: Number.POSITIVE_INFINITY }

/** Smaller texts are cheap whatever is in them. */
const smallest = 16 * 1024

function noteBytes(req: IncomingMessage, _res: unknown, bytes: Buffer): void {
	;(req as Request).context.bodyBytes = bytes.length
	if (!isUtf8(bytes)) throw Object.assign(new Error('is not UTF-8'), { type: 'encoding.invalid' })
	const excess = bytes.length < smallest ? undefined : shapeReader(mostShape)(bytes)
	if (excess) throw Object.assign(new Error(excess), { type: 'shape.excessive' })
}

export const readBody: RequestHandler = (req, res, next) => {
	const { 'transfer-encoding': chunked, 'content-length': length } = req.headers
	if (req.context.operation?.body === 'none') return next()
	const isEmpty = chunked === undefined && !(Number(length ?? 0) > 0)
	// Nobody hears the end of what was cut off while the request waited: express.json would take it for no body.
	if (!isEmpty && req.destroyed) throw cutOff()
	if (chunked === undefined) return readSent(req, res, next, !isEmpty)
	return hasBytes(req).then((has) => readSent(req, res, next, has))
}

/** Whether a body of a length that nobody knows has a first byte. Some clients send every body in chunks, also none. */
function hasBytes(req: IncomingMessage): Promise<boolean> {
	return new Promise((resolve, reject) => {
		req.once('readable', () => {
			const chunk = req.read()
			if (chunk === null) return
			req.unshift(chunk)
			resolve(true)
		})
		req.once('end', () => resolve(false))
		req.once('close', () => reject(cutOff()))
	})
}

function readSent(req: Request, res: Response, next: NextFunction, isPresent: boolean): void {
	const { id, bodyLimit = limit, body: kind } = req.context.operation ?? {}
	const type = req.headers['content-type'] ?? ''
	if (!isPresent && kind === 'required') throw new ApiError('body_required', 'Send a JSON body.')
	if (isPresent && !isJson(type)) {
		throw new ApiError(
			'unsupported_media_type',
			`Send the body as application/json in UTF-8, not as ${type || 'nothing in particular'}.`,
		)
	}
	req.headers['content-type'] = 'application/json'
	// An absent body means the same as `{}`, so later steps have one case.
	if (!isPresent) req.body = {}
	const read = (id && parseLarger.get(id)) ?? parse
	if (isPresent) read(req, res, (error?: unknown) => (error ? next(translate(error, bodyLimit)) : next()))
	else next()
}

/** ASCII is UTF-8, and who names nothing sends what JSON is always in. Other parameters say nothing of the bytes. */
const utf8 = new Set(['utf-8', 'utf8', 'us-ascii', ''])

const isJson = (type: string) =>
	/^application\/json\s*(;|$)/i.test(type) &&
	[...type.matchAll(/;\s*charset\s*=\s*["']*([^\s;"']*)/gi)].every(([, charset = '']) => utf8.has(charset.toLowerCase()))

/** An invoice of some two hundred lines. */
const largeBytes = 32 * 1024

/**
 * Takes the step only behind a large body. It has come in parts, long after the request; what is done with it takes the event loop for
 * milliseconds, and the ends of many may come at once.
 */
export const afterLargeBody =
	(step: RequestHandler): RequestHandler =>
	(req, res, next) =>
		req.context.bodyBytes < largeBytes ? next() : step(req, res, next)

function translate(error: unknown, most: number): unknown {
	const { type, message } = error as { type?: string; message: string }
	if (type === 'entity.too.large')
		return new ApiError('payload_too_large', `The body is larger than ${most / 1024} KiB.`, { cause: error })
	if (type === 'encoding.unsupported') return new ApiError('unsupported_media_type', message, { cause: error })
	if (type === 'encoding.invalid') return new ApiError('invalid_json', 'The body is not UTF-8.', { cause: error })
	if (type === 'shape.excessive') {
		const errors = [{ pointer: '', code: 'excessive', detail: message }]
		return new ApiError('invalid_request', `The body ${message}.`, { errors, cause: error })
	}
	if (type === 'request.aborted' || type === 'request.size.invalid') return cutOff(error)
	if (type === 'entity.parse.failed' || (error as Error).name === 'ZlibError' || (error as { status?: number }).status === 400) {
		return new ApiError('invalid_json', `The body is not JSON: ${message}.`, { cause: error })
	}
	return error
}

const cutOff = (cause?: unknown) => new ApiError('invalid_request', 'The body did not arrive whole.', { cause })
