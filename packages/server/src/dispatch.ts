// From a valid request to its answer: the handler of the operation, in a transaction when it writes.
import type { Request, RequestHandler, Response } from 'express'
import type { Call } from './api.ts'
import type { OperationId } from './contract/routes.ts'
import type { Database, Db } from './db.ts'
import { expectVersion, matchesTag } from './etag.ts'
import { logLine, problemReply, type Reply, send } from './exchange.ts'
import { Idempotency } from './idempotency.ts'
import { JsonText } from './json.ts'
import { handlers } from './operations.ts'

export interface DispatchOptions {
	readonly db: Database
	readonly now: () => number
	/** Answer through `res.json`, where the validator sees it. */
	readonly validateResponses: boolean
}

interface Answer {
	readonly status: number
	readonly headers?: Readonly<Record<string, string>>
	readonly body: unknown
}

type AnyHandler = (call: Call<OperationId>, context: { db: Db; now: number }) => Promise<Answer>

export function dispatch({ db, now: clock, validateResponses }: DispatchOptions): RequestHandler {
	const idempotency = new Idempotency(db)

	async function answer(req: Request): Promise<Reply> {
		const { operation, params, query, caller } = req.exchange
		if (!operation || !caller) throw new Error('no operation or caller')
		const handler = handlers[operation.id] as unknown as AnyHandler
		const check = (version: number) => expectVersion(req.headers['if-match'], version)
		const call = { params, query, body: req.body, caller, expectVersion: check } as unknown as Call<OperationId>
		const now = clock()
		const run = async (target: Db) => toReply(await handler(call, { db: target, now }))
		if (!operation.writes) return run(db)
		const idempotencyKey = operation.idempotent ? req.headers['idempotency-key'] : undefined
		if (typeof idempotencyKey !== 'string') return db.transaction(run)
		const { organizationId, keyId } = caller
		const claim = { organizationId, keyId, operationId: operation.id, idempotencyKey }
		return idempotency.once({ claim, body: req.body, now, effect: run, refusal: (error) => problemReply(error, req) })
	}

	return (req, res, next) => {
		answer(req)
			.then((reply) => {
				if (isUnchanged(req, reply)) send(req, res, { status: 304, headers: { ETag: reply.headers.ETag as string } })
				else if (validateResponses) sendValidated(req, res, reply)
				else send(req, res, reply)
			})
			.catch(next)
	}
}

function toReply({ status, headers, body }: Answer): Reply {
	return { status, headers: headers ?? {}, text: body instanceof JsonText ? body.text : JSON.stringify(body) }
}

function isUnchanged(req: Request, { status, headers }: Reply): boolean {
	const asked = req.headers['if-none-match']
	return (
		asked !== undefined && req.method === 'GET' && status === 200 && headers.ETag !== undefined && matchesTag(asked, headers.ETag)
	)
}

function sendValidated(req: Request, res: Response, { status, headers, text = '' }: Reply): void {
	const { requestId, rateHeaders } = req.exchange
	res.status(status).set({ 'X-Request-Id': requestId, ...rateHeaders, ...headers })
	res.json(JSON.parse(text))
	logLine(req, status)
}
