// The contract as JSON at `/openapi.json`: 400 KB, or 30 compressed.
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import express, { type Request, type Router } from 'express'
import { documentText } from '../../contract/document.ts'
import { send } from '../answers.ts'
import { matchesTag } from '../etag.ts'
import { rejectMethod } from './find-operation.ts'

const encoders = { br: promisify(brotliCompress), gzip: promisify(gzip), identity: async (bytes: Buffer) => bytes }

type Encoding = keyof typeof encoders

export function documentRoute(): Router {
	const router = express.Router()
	const made = new Map<Encoding, Promise<Buffer>>()
	/** Compresses once, in a thread of its own. */
	const contentOf = (encoding: Encoding): Promise<Buffer> => {
		const content = made.get(encoding) ?? encoders[encoding](Buffer.from(documentText))
		made.set(encoding, content)
		return content
	}
	router.get('/openapi.json', async (req, res) => {
		const encoding = encodingOf(req)
		const headers = { ETag: tagOf(encoding), Vary: 'Accept-Encoding' }
		const known = req.headers['if-none-match']
		if (known !== undefined && matchesTag(known, headers.ETag)) return send(req, res, { status: 304, headers })
		const type = { 'Content-Type': 'application/json; charset=utf-8' }
		const encoded = encoding !== 'identity' && { 'Content-Encoding': encoding }
		send(req, res, { status: 200, headers: { ...headers, ...type, ...encoded }, bytes: await contentOf(encoding) })
	})
	router.all('/openapi.json', (req) => {
		rejectMethod(req, ['GET'])
	})
	return router
}

const encodingOf = (req: Request): Encoding => (req.acceptsEncodings('br', 'gzip', 'identity') || 'identity') as Encoding

let version: string | undefined

/** Each encoding has its own strong tag (RFC 9110 §8.8.3.3). */
function tagOf(encoding: Encoding): string {
	version ??= hash('sha256', documentText, 'base64url').slice(0, 22)
	return `"${version}-${encoding}"`
}
