// Answers a valid request: runs the handler of its operation, in a transaction when the operation writes.
import type { Request, RequestHandler, Response } from 'express'
import type { Caller, Callers } from '../auth/caller.ts'
import { changesAccess, requireAllowed } from '../auth/permissions.ts'
import type { RateLimits } from '../auth/rate-limit.ts'
import type { StoredBytes } from '../auth/stored-bytes.ts'
import type { Actor, Origin } from '../base/origin.ts'
import { operations } from '../contract/routes.ts'
import type { Database, Db, Transaction } from '../db/database.ts'
import { type OrderedOrigin, takeChangeTime, withoutOrder } from '../db/write-context.ts'
import { linkToNext } from '../lists/link.ts'
import type { Services } from '../outside/services.ts'
import { defaults, JsonText, problemReply, type Reply, send } from './answers.ts'
import { expectVersion, matchesTag } from './etag.ts'
import type { Context, Handlers, SelfManagedContext } from './handler.ts'
import { Idempotency, requestKeyOf } from './idempotency.ts'
import type { Load } from './load.ts'
import { logRequest } from './log-line.ts'
import { hangUpSignal, isSeen, originOf } from './request-context.ts'

export interface DispatchOptions {
	readonly handlers: Handlers
	readonly db: Database
	readonly now: () => number
	readonly services: Services
	readonly callers: Callers
	readonly storedBytes: StoredBytes
	readonly limits: RateLimits
	readonly load: Load
	/** Set while it is not known what time it is. */
	readonly askingTime?: (() => Promise<void> | undefined) | undefined
	/** Answers through `res.json`, where the full validator checks the answer. */
	readonly validateResponses: boolean
}

interface Answer {
	readonly status: number
	readonly headers?: Readonly<Record<string, string>>
	readonly body: unknown
	readonly next?: string | null
}

/** The part of a context that every handler gets. */
type BaseContext = Omit<SelfManagedContext, 'db' | 'commit' | 'change' | 'requestKey'>

type AnyHandler = (call: unknown, context: unknown) => Promise<Answer>

const accessChanges = new Set(operations.filter(changesAccess))

type Run<C> = (context: C) => Promise<Answer>

export function dispatch(options: DispatchOptions): RequestHandler {
	const { handlers, db, now: clock, services, callers, storedBytes, limits, load, validateResponses, askingTime } = options
	const idempotency = new Idempotency(db, services.secrets)

	function answer(req: Request): Promise<Reply> {
		const { operation, params, query } = req.context
		if (!operation) throw new Error('no operation')
		const check = (version: number) => expectVersion(req.headers['if-match'], version)
		const run = (context: unknown) => {
			const call = {
				params,
				query,
				body: req.body,
				caller: req.context.caller,
				userAgent: req.headers['user-agent'] ?? null,
				isViewed: () => isSeen(req),
				signal: () => hangUpSignal(req),
				expectVersion: check,
			}
			return (handlers[operation.id] as unknown as AnyHandler)(call, context)
		}
		const now = clock()
		const origin = originOf(req, actorOf(req.context.caller), operation.id, now)
		const base = { now, services, callers, storedBytes, limits, log: req.context.log, origin }
		if (operation.ownTransactions && operation.changesNothing) return runSelfManaged(req, base, run)
		if (operation.ownTransactions)
			return confirmCaller(db, req).then(() => metered(req, base, () => runSelfManaged(req, base, run)))
		if (operation.writes) return metered(req, base, () => runInTransaction(req, base, run))
		const reading = operation.readsMany ? (db.standby ?? db) : db
		return run({ ...base, db: reading, afterCommit: (work: () => void) => work() }).then(toReply)
	}

	/**
	 * What gives or takes access asks the database whether its caller may still do so: another process may have revoked the key, or changed the role.
	 * An operation with transactions of its own asks before the first, too: it may write to others between them.
	 */
	async function confirmCaller(tx: Db, { context }: Request): Promise<void> {
		const { operation, caller } = context
		if (!operation || !caller || !accessChanges.has(operation)) return
		const confirmed = await callers.confirm(tx, caller)
		requireAllowed(operation, confirmed)
		context.caller = confirmed
	}

	/**
	 * The request may have begun minutes ago, as one that waits for a mail server. Who has no organization yet, as for a first sign-in,
	 * changes no record of one.
	 */
	async function orderedIn(tx: Transaction, begun: Origin, req: Request): Promise<OrderedOrigin> {
		await askingTime?.()
		const { caller } = req.context
		const origin = { ...begun, now: clock() }
		if (!caller) return withoutOrder(origin)
		const ordered = await takeChangeTime(tx, origin, caller.organizationId)
		// Now no other change of the organization comes between.
		await confirmCaller(tx, req)
		return ordered
	}

	/** Counts what a caller's request stores. Who has stored too much may still read and delete. */
	async function metered(req: Request, { now, origin }: BaseContext, work: () => Promise<Reply>): Promise<Reply> {
		const { caller, operation } = req.context
		if (!caller) return work()
		const { organizationId } = caller
		if (operation?.method !== 'GET' && operation?.method !== 'DELETE') storedBytes.require(organizationId, now)
		const reply = await work()
		if (reply.status < 400) storedBytes.add(organizationId, req.context.bodyBytes + (origin.meter?.bytes ?? 0), now)
		return reply
	}

	async function runInTransaction(req: Request, base: BaseContext, run: Run<Context>): Promise<Reply> {
		let done: { reply: Reply; afterCommit: (() => void)[] } | undefined
		const effect = async (tx: Transaction) => {
			const afterCommit: (() => void)[] = []
			const origin = await orderedIn(tx, base.origin, req)
			const reply = toReply(await run({ ...base, origin, db: tx, afterCommit: (work) => afterCommit.push(work) }))
			done = { reply, afterCommit }
			return reply
		}
		const idempotent = idempotentRequestOf(req, base.now)
		const reply = await (idempotent ? idempotency.once(idempotent, effect) : db.transaction(effect, ownerOf(req)))
		req.context.effect = 'stored'
		// A transaction that loses a race runs again, and one that loses its key to another request is undone.
		if (done?.reply === reply) for (const work of done.afterCommit) work()
		return reply
	}

	function runSelfManaged(req: Request, base: BaseContext, run: Run<SelfManagedContext>): Promise<Reply> {
		req.context.effect = 'possible'
		const idempotent = idempotentRequestOf(req, base.now)
		const requestKey = requestKeyOf(idempotent)
		const ordered =
			<T>(work: (tx: Transaction, origin: OrderedOrigin) => Promise<T>) =>
			async (tx: Transaction) =>
				work(tx, await orderedIn(tx, base.origin, req))
		const change: SelfManagedContext['change'] = (work) => db.transaction(ordered(work), ownerOf(req))
		const contextOf = (commit: (work: (tx: Transaction) => Promise<Answer>) => Promise<Answer>) => {
			const effect = (work: (tx: Transaction, origin: OrderedOrigin) => Promise<Answer>) => commit(ordered(work))
			return { ...base, db, requestKey, change, commit: effect as SelfManagedContext['commit'] }
		}
		if (!idempotent) return run(contextOf((work) => db.transaction(work, ownerOf(req)))).then(toReply)
		return idempotency.onceSelfManaged(idempotent, async (commit) => toReply(await run(contextOf(commitWith(commit)))))
	}

	return (req, res, next) => {
		const { caller } = req.context
		load.begin(caller)
		answer(req)
			.finally(() => load.end(caller))
			.then((answered) => {
				const reply = linked(req, answered)
				if (isUnchanged(req, reply)) return send(req, res, { status: 304, headers: { ETag: reply.headers.ETag as string } })
				if (validateResponses && reply.text !== undefined) return sendValidated(req, res, reply)
				return send(req, res, reply)
			})
			.catch(next)
	}
}

/** Stores the answer of a handler's commit in the transaction of the commit; of several commits, the last one's answer stays. */
const commitWith =
	(commit: (work: (tx: Transaction) => Promise<Reply>) => Promise<Reply>) =>
	async (work: (tx: Transaction) => Promise<Answer>): Promise<Answer> => {
		let answer: Answer | undefined
		await commit(async (tx) => {
			answer = await work(tx)
			return toReply(answer)
		})
		return answer as Answer
	}

const actorOf = (caller: Caller | undefined): Actor =>
	caller ? { type: caller.session ? 'user' : 'api_key', id: caller.id } : { type: 'client_link', id: null }

/** Whose connections a transaction of the request takes. */
const ownerOf = ({ context }: Request) => ({
	organizationId: context.caller?.organizationId,
	isShort: context.operation?.isShort,
})

/** The request as `Idempotency` sees it; undefined when it has no `Idempotency-Key` or its operation takes none. */
function idempotentRequestOf(req: Request, now: number) {
	const { operation, caller, params } = req.context
	const idempotencyKey = req.headers['idempotency-key']
	if (!operation?.idempotent || !caller || typeof idempotencyKey !== 'string') return undefined
	const { organizationId, id: keyId } = caller
	return {
		key: { organizationId, keyId, operationId: operation.id, idempotencyKey },
		content: { params, body: req.body },
		isSecret: operation.secretBody === true,
		isShort: operation.isShort,
		now,
		answerTo: (error: Parameters<typeof problemReply>[0]) => problemReply(error, req),
	}
}

function toReply({ status, headers = {}, body, next }: Answer): Reply {
	if (body instanceof Uint8Array) return { status, headers: { ...headers, 'Content-Type': 'application/pdf' }, bytes: body }
	const content = body instanceof JsonText ? body.content : JSON.stringify(body)
	const page = { status, headers, ...(typeof next === 'string' && { next }) }
	const isHere = typeof content === 'string' || content instanceof Uint8Array
	return isHere ? { ...page, text: content } : { ...page, parts: content }
}

/** A list that has more names its next page. */
const linked = (req: Request, { next, ...reply }: Reply): Reply =>
	next === undefined ? reply : { ...reply, headers: { ...reply.headers, Link: linkToNext(req.originalUrl, next) } }

function isUnchanged(req: Request, { status, headers }: Reply): boolean {
	const asked = req.headers['if-none-match']
	return (
		asked !== undefined && req.method === 'GET' && status === 200 && headers.ETag !== undefined && matchesTag(asked, headers.ETag)
	)
}

function sendValidated(req: Request, res: Response, { status, headers, text = '' }: Reply): void {
	const { requestId, headers: contextHeaders } = req.context
	res.status(status).set({ ...defaults, 'X-Request-Id': requestId, ...contextHeaders, ...headers })
	res.json(JSON.parse(text.toString()))
	logRequest(req, status, status === 201 ? headers?.Location : undefined)
}
