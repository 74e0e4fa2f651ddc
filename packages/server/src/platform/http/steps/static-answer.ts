// Answers that are the same for everybody until the process ends, such as the contract: tagged and compressed once.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Request, RequestHandler, Response } from 'express'
import { send } from '../answers.ts'
import { matchesTag } from '../etag.ts'

/** Brotli's best quality takes 24 times as long as this one for a twelfth of the bytes, and the first visitor waits for it. */
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const encoders = {
	br: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, quality),
	gzip: promisify<Uint8Array, Buffer>(gzip),
	identity: async (bytes: Uint8Array) => bytes,
}

export type Encoding = keyof typeof encoders

/** Bytes that are the same for everybody. */
export interface StaticContent {
	/** The beginning of its tags. */
	readonly version: string
	/** Whether compressing makes it smaller. */
	readonly isCompressed: boolean
	encoded(encoding: Encoding): Uint8Array | Promise<Uint8Array>
}

/** Answers with what `read` returns. It is read and compressed when it is first asked for, in a thread of its own. */
export function staticAnswer(
	read: () => Promise<string | Uint8Array>,
	headers: Readonly<Record<string, string>>,
): RequestHandler {
	const contentOf = remembered(async () => contentFrom(await read()))
	return async (req, res) => sendStatic(req, res, await contentOf(), headers)
}

/** Sends content in the best encoding that the caller takes, or 304 to who has it. */
export async function sendStatic(
	req: Request,
	res: Response,
	content: StaticContent,
	headers: Readonly<Record<string, string>>,
): Promise<void> {
	const encoding = content.isCompressed ? encodingOf(req) : 'identity'
	// Each encoding has its own strong tag (RFC 9110 §8.8.3.3).
	const tag = `"${content.version}-${encoding}"`
	const all = { ETag: tag, Vary: 'Accept-Encoding', ...headers }
	const known = req.headers['if-none-match']
	if (known !== undefined && matchesTag(known, tag)) return send(req, res, { status: 304, headers: all })
	const encoded = encoding !== 'identity' && { 'Content-Encoding': encoding }
	send(req, res, { status: 200, headers: { ...all, ...encoded }, bytes: await content.encoded(encoding) })
}

/** What the tags of these bytes begin with. */
export const versionOf = (bytes: Uint8Array) => hash('sha256', bytes, 'base64url').slice(0, 22)

function contentFrom(text: string | Uint8Array): StaticContent {
	const bytes = typeof text === 'string' ? Buffer.from(text) : text
	const made = new Map<Encoding, () => Promise<Uint8Array>>()
	return {
		version: versionOf(bytes),
		isCompressed: true,
		encoded(encoding) {
			const make = made.get(encoding) ?? remembered(() => encoders[encoding](bytes))
			made.set(encoding, make)
			return make()
		},
	}
}

/** Does it once, and again only when it failed. */
function remembered<T>(make: () => Promise<T>): () => Promise<T> {
	let made: Promise<T> | undefined
	return () => {
		made ??= make().catch((error) => {
			made = undefined
			throw error
		})
		return made
	}
}

/** Browsers name gzip first, and Express would take it; the smallest is better. */
function encodingOf(req: Request): Encoding {
	if (req.acceptsEncodings('br')) return 'br'
	return req.acceptsEncodings('gzip') ? 'gzip' : 'identity'
}
