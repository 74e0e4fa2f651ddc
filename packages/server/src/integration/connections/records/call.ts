// The one way to call a provider for its records: guarded, with the credentials of the connection, within its budget, and with word of its health.
import { hash } from 'node:crypto'
import { graceMs } from '../../../platform/fair/lending.ts'
import {
	CallFailed,
	call,
	type OutsideAnswer,
	type OutsideCall,
	parseJson,
} from '../../../platform/outside/providers/json-call.ts'
import { TokenFailed } from '../../../platform/outside/providers/oauth.ts'
import { baseUrlOf, type Proof, urlBelow, withProof } from '../access.ts'
import { recordOutcome } from '../health.ts'
import { type Outcome, testConnection } from '../probe.ts'
import type { CallLimit, Manifest, ObjectManifest } from '../providers/manifest.ts'
import { manifestOf } from '../providers/providers.ts'
import { findTokenRow, type TokenRow } from '../token-store.ts'
import { budgetOf, type Taken } from './budget.ts'
import { type Effect, fromAnswer, fromCall, fromToken, longestPauseMs } from './failures.ts'
import { objectOf } from './objects.ts'
import { type ObjectKey, ProviderFailed, type RecordContext } from './types.ts'

/** For all of it, also where a token is replaced and the call is repeated. */
const timeoutMs = 30_000
const maxBytes = 8 * 1024 * 1024

/** What calls are about. */
export interface Target {
	readonly row: TokenRow
	readonly manifest: Manifest
	readonly object: ObjectManifest
}

export interface ProviderRequest {
	readonly method: OutsideCall['method']
	readonly effect: Effect
	/** Below the base URL, or a URL with its origin. */
	readonly path: string
	readonly query?: Readonly<Record<string, string>>
	readonly headers?: Readonly<Record<string, string>>
	readonly body?: { readonly type: 'application/json' | 'application/x-www-form-urlencoded'; readonly text: string }
	readonly idempotencyKey?: string
	/** Statuses besides 2xx that are returned. */
	readonly expected?: readonly number[]
}

export interface ProviderAnswer {
	readonly status: number
	readonly headers: OutsideAnswer['headers']
	/** Undefined for no body, and where the status is no 2xx. */
	readonly json: unknown
	readonly bytes: number
	/** Where it came from. */
	readonly url: URL
}

/** The connection and object of a key. Throws ProviderFailed for a connection that is not there or off, UnknownObject. */
export async function open({ db }: RecordContext, { organizationId, connectionId: id, object }: ObjectKey): Promise<Target> {
	const row = await findTokenRow(db, { organizationId, id })
	if (!row) throw new ProviderFailed('off', 'connection_deleted', 'The connection is deleted.')
	const { connection } = row
	if (connection.status === 'disabled') throw new ProviderFailed('off', 'connection_disabled', 'The connection is disabled.')
	return { row, manifest: manifestOf(connection), object: objectOf(connection, object) }
}

/** Makes a call; throws ProviderFailed. */
export async function callProvider(context: RecordContext, target: Target, request: ProviderRequest): Promise<ProviderAnswer> {
	const { services, now, signal } = context
	const { id, organizationId } = target.row.connection
	const budget = budgetOf(services)
	const caller = { organizationId, id, now, signal, isFailing: target.row.connection.status === 'degraded' }
	const isHanging = budget.isHanging(caller)
	// Where memory is short, who waits for an answer keeps others from asking for more.
	const loan = isHanging || !budget.isCrowded ? context.lend?.(isHanging ? 0 : graceMs) : undefined
	const send = async (taken: Taken) => callWithin(context, target, request, await accountOf(context, target), taken)
	// The memory that an answer takes counts until somebody can do something with it.
	const back = async () => loan?.back()
	return budget.run(caller, send, back).finally(back)
}

/** The id of the account that the provider wants in a header; asks for it where no test has yet. */
async function accountOf(context: RecordContext, { row, manifest }: Target): Promise<string | undefined> {
	if (manifest.accountHeader === undefined) return undefined
	const { account } = row.connection
	if (account) return account.externalId
	const { db, services, now, signal } = context
	const { outcome, tested } = await testConnection({ db, services, now: now() }, row, signal)
	await recordOutcome(db, now(), tested, outcome)
	if ('error' in outcome) throw fromToken(new TokenFailed(outcome.error.code, outcome.error.detail))
	if (!outcome.account) throw new ProviderFailed('rejected', 'invalid_answer', 'The provider names no account of the connection.')
	return outcome.account.externalId
}

async function callWithin(
	context: RecordContext,
	{ row, manifest }: Target,
	request: ProviderRequest,
	account: string | undefined,
	taken: Taken,
): Promise<ProviderAnswer> {
	const { db, services, now, signal } = context
	const { effect, expected = [] } = request
	const idempotency = idempotencyOf(manifest, request)
	let proof: Proof = { row, headers: {}, secrets: [] }
	const began = performance.now()
	const send = async (given: Proof) => {
		proof = given
		const url = urlOf(baseUrlOf(services, manifest, given.row.connection), request)
		const own = account === undefined ? {} : { [manifest.accountHeader as string]: account }
		const type = request.body && { 'content-type': request.body.type }
		const headers = { ...manifest.headers, ...type, ...request.headers, ...idempotency, ...own, ...given.headers }
		const sent = { method: request.method, url: url.href, headers, ...(request.body && { body: request.body.text }) }
		const left = Math.max(1, Math.ceil((timeoutMs - performance.now() + began) / 1000)) * 1000
		return { url, answer: await call(services.egress, sent, { timeoutMs: left, maxBytes, signal, taken }) }
	}
	// What the call brought matters more than its record, which the next one makes again.
	const record = (outcome: Outcome) => recordOutcome(db, now(), proof.row, outcome).catch(() => {})
	try {
		const context = { db, services, now: now() }
		const { url, answer } = await withProof(context, row, send, (sent) => sent.answer.status === 401)
		const isKeyed = Object.keys(idempotency).length > 0
		const asked = { manifest, effect, request: `${request.method} ${url.pathname}`, isKeyed, secrets: proof.secrets }
		const failure = expected.includes(answer.status) ? undefined : fromAnswer(answer, now(), asked)
		const at = now()
		budgetOf(services).hold(row.connection, at, heldFor(manifest, answer, at, failure))
		if (failure) throw failure
		const json = bodyOf(answer)
		if (answer.status < 400) await record({ account: null })
		return { status: answer.status, headers: answer.headers, json, bytes: answer.bytes, url }
	} catch (error) {
		const failure =
			error instanceof CallFailed ? fromCall(error, effect) : error instanceof TokenFailed ? fromToken(error) : error
		if (failure instanceof ProviderFailed && (error instanceof TokenFailed || isAboutConnection(failure)))
			await record({ error: { code: failure.code, detail: failure.message } })
		throw failure
	}
}

/** Whether a failure says something of the connection, and not of one request or of a limit. */
const isAboutConnection = ({ kind, code }: ProviderFailed) =>
	kind === 'retry' || kind === 'reauth' || (kind === 'unclear' && code !== 'rejected') || code === 'unsafe_url'

/** Throws CallFailed for a success that is no JSON. */
const bodyOf = ({ status, headers, text }: OutsideAnswer): unknown =>
	status < 200 || status > 299 || text.trim() === '' ? undefined : parseJson(text, headers['content-type'])

/** Credentials go to the origin of the connection alone, wherever an answer leads. */
function urlOf(base: string, { path, query = {} }: ProviderRequest): URL {
	const { origin } = new URL(base)
	const url = path.startsWith('/') ? urlBelow(base, path) : new URL(path)
	if (url.origin !== origin)
		throw new ProviderFailed('rejected', 'unsafe_url', 'The provider names a next page at another origin, which is not called.')
	for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
	return url
}

function idempotencyOf({ idempotencyHeader }: Manifest, { idempotencyKey }: ProviderRequest): Readonly<Record<string, string>> {
	if (!idempotencyHeader || idempotencyKey === undefined) return {}
	const fits = idempotencyKey.length <= idempotencyHeader.maxLength && /^[!-~]+$/.test(idempotencyKey)
	return { [idempotencyHeader.name]: fits ? idempotencyKey : hash('sha256', idempotencyKey) }
}

/** For how many milliseconds no call is to be made. */
function heldFor({ limits }: Manifest, answer: OutsideAnswer, now: number, failure: ProviderFailed | undefined): number {
	if (failure?.kind === 'limit') return failure.retryAfterMs ?? 0
	const used = limits.filter(({ remaining }) => Number(answer.headers[remaining] || Number.NaN) <= 0)
	return Math.max(0, ...used.map((limit) => resetMs(limit, answer, now)))
}

function resetMs({ reset, pauseMs }: CallLimit, { headers }: OutsideAnswer, now: number): number {
	const value = Number(reset ? headers[reset.header] : Number.NaN)
	if (!reset || !(value >= 0)) return pauseMs
	const ms = reset.unit === 'ms' ? value : value * 1000
	// A time in milliseconds, a time in seconds, or a number of them.
	const wait = value > 1e12 ? value - now : value > 1e9 ? value * 1000 - now : ms
	return Math.min(Math.max(0, wait), longestPauseMs)
}
