// Reads the body of an operation that has one: JSON in UTF-8, at most 512 KiB unless the operation has a limit of its own.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import express, { type Request, type RequestHandler } from 'express'
import { ApiError } from '../../base/errors.ts'
import { operations } from '../../contract/routes.ts'
import { findExcess } from './json-shape.ts'

const limit = 512 * 1024

const parserOf = (bytes: number) => express.json({ limit: bytes, strict: false, type: () => true, verify: noteBytes })
const parse = parserOf(limit)
const parseLarger = new Map(
	operations.flatMap(({ id, bodyLimit }) => (bodyLimit === undefined ? [] : [[id, parserOf(bodyLimit)] as const])),
)

function noteBytes(req: IncomingMessage, _res: unknown, bytes: Buffer): void {
	;(req as Request).context.bodyBytes = bytes.length
	if (!isUtf8(bytes)) throw Object.assign(new Error('is not UTF-8'), { type: 'encoding.invalid' })
	const excess = findExcess(bytes)
	if (excess) throw Object.assign(new Error(excess), { type: 'shape.excessive' })
}

export const readBody: RequestHandler = (req, res, next) => {
	const kind = req.context.operation?.body
	if (kind === 'none') return next()
	const absent = req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0
	if (absent) {
		if (kind === 'required') throw new ApiError('body_required', 'Send a JSON body.')
		// An absent body means the same as `{}`, so later steps have one case.
		req.body = {}
		req.headers['content-type'] = 'application/json'
		return next()
	}
	const type = req.headers['content-type'] ?? ''
	if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) {
		throw new ApiError(
			'unsupported_media_type',
			`Send the body as application/json in UTF-8, not as ${type || 'nothing in particular'}.`,
		)
	}
	req.headers['content-type'] = 'application/json'
	const { id, bodyLimit = limit } = req.context.operation ?? {}
	const read = (id && parseLarger.get(id)) ?? parse
	read(req, res, (error?: unknown) => (error ? next(translate(error, bodyLimit)) : next()))
}

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
	if (type === 'request.aborted' || type === 'request.size.invalid')
		return new ApiError('invalid_request', 'The body did not arrive whole.', { cause: error })
	if (type === 'entity.parse.failed' || (error as Error).name === 'ZlibError' || (error as { status?: number }).status === 400) {
		return new ApiError('invalid_json', `The body is not JSON: ${message}.`, { cause: error })
	}
	return error
}
