// What is asked of every operation: a valid request and what it promises, and each error that a request can be given at no cost.
import { isDeepStrictEqual } from 'node:util'
import { mayCall } from '../../../platform/auth/keys.ts'
import { newToken } from '../../../platform/auth/session-cookie.ts'
import { type Answer, codeOf, contractOf } from '../../../platform/contract/answers.ts'
import { documentedOf } from '../../../platform/contract/document.ts'
import { type Operation, operations } from '../../../platform/contract/routes.ts'
import type { Recipe } from './recipe.ts'
import { recipeOf } from './recipes.ts'
import { type Asked, NotMadeError, type ServerUnderTest, unknownId } from './server-under-test.ts'

export interface Probing {
	readonly server: ServerUnderTest
	/** The organization is not one made for this run. */
	readonly shared: boolean
	/** The payment processor is one for tests. */
	readonly testPayments: boolean
	/** Keys that may do one thing each, and what. */
	readonly limitedKeys: readonly { scope: string; key: string }[]
}

interface Walk extends Probing {
	readonly operation: Operation
	readonly recipe: Recipe
}

export async function probe(probing: Probing, operation: Operation): Promise<void> {
	const walk = { ...probing, operation, recipe: recipeOf(operation.id) }
	for (const part of [probeCredentials, probeRequest, probeUnknown, probeErrors, probeValid]) {
		try {
			await part(walk)
		} catch (error) {
			if (!(error instanceof NotMadeError)) throw error
			probing.server.findings.notAsked.set(operation.id, error.message)
		}
	}
}

const success = ({ statuses }: Operation) => statuses.find((status) => status < 300) ?? 200
const documents = (operation: Operation, status: number, code?: string) =>
	documentedOf(operation).some((each) => each.status === status && (code === undefined || each.code === code))
const takes = (operation: Operation, name: string) => contractOf(operation).parameters.some((each) => each.name === name)

/** Asks, and notes an answer of another status or code. */
async function expect({ server, operation }: Walk, asked: Asked, status: number, code?: string): Promise<Answer> {
	const answer = await server.ask(operation.id, asked)
	const found = codeOf(answer)
	if (found !== code && (found === 'unsafe_url' || found === 'unresolvable_url'))
		throw new NotMadeError(`the server does not call its own address (${found})`)
	if (answer.status !== status || (code !== undefined && found !== code)) {
		const told = [answer.status, found].filter(Boolean).join(' ')
		const detail = (answer.body as { detail?: string } | undefined)?.detail
		server.findings.fail(
			operation,
			status,
			code,
			`status: ${told} where ${[status, code].filter(Boolean).join(' ')} is expected${detail ? ` (${detail})` : ''}`,
		)
	}
	return answer
}

/** Of one operation of each resource: a server counts requests and wrong keys of an address, and rejects it in the end. */
const isFirstOfItsResource = ({ id }: Operation) =>
	operations.find((other) => !other.public && other.id.split('.')[0] === id.split('.')[0])?.id === id

/** As a browser sends a session: `__Host-` is the name over https. */
const cookies = (token: string) => `remit=${token}; __Host-remit=${token}`

async function probeCredentials(walk: Walk): Promise<void> {
	const { operation, limitedKeys } = walk
	if (operation.public) {
		if (documents(operation, 403, 'cross_site_request'))
			await expect(walk, { body: {}, headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'cross_site_request')
		return
	}
	await expect(walk, { key: null }, 401, 'missing_credentials')
	if (isFirstOfItsResource(operation)) {
		await expect(walk, { key: `rmt_${'0'.repeat(38)}` }, 401, 'invalid_credentials')
		await expect(walk, { headers: { 'x-api-key': 'another' } }, 400, 'ambiguous_credentials')
		await expect(walk, { key: null, headers: { cookie: cookies(newToken()) } }, 401, 'session_ended')
	}
	if (operation.sessionOnly) {
		await expect(walk, {}, 403, 'session_required')
		return
	}
	const limited = limitedKeys.find(({ scope }) => !mayCall(new Set([scope]), { ...operation, anyScope: true }))
	if (limited) await expect(walk, { key: limited.key }, 403, 'insufficient_scope')
}

/** Mistakes in the shape of a request, which a server finds before it looks for a record. */
async function probeRequest(walk: Walk): Promise<void> {
	const { operation } = walk
	if (operation.sessionOnly) return
	const answer = await expect(walk, { query: '?unexpected=1', body: operation.body === 'none' ? undefined : {} }, 400)
	const { errors = [] } = (answer.body ?? {}) as { errors?: { parameter?: string }[] }
	if (answer.status === 400 && !errors.some(({ parameter }) => parameter === 'unexpected'))
		walk.server.findings.fail(operation, 400, 'invalid_request', 'body /errors: does not name the parameter "unexpected"')
	if (operation.body === 'none') return
	if (operation.body === 'required' && documents(operation, 400, 'body_required')) await expect(walk, {}, 400, 'body_required')
	await expect(walk, { raw: '{' }, 400, 'invalid_json')
	await expect(walk, { body: { unexpected: 1 } }, 400, 'invalid_request')
	if (documents(operation, 415))
		await expect(walk, { raw: 'text', headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type')
	// A megabyte is sent for one operation: the limit is that of the server, not of an operation.
	if (operation.id === 'companies.create')
		await expect(walk, { raw: JSON.stringify({ name: 'x'.repeat(1_100_000) }) }, 413, 'payload_too_large')
}

/** A record that does not exist. */
async function probeUnknown(walk: Walk): Promise<void> {
	const { operation, server } = walk
	const codes = documentedOf(operation).filter(({ status }) => status === 404)
	if (operation.sessionOnly || operation.public || codes.length === 0 || !operation.path.includes('{')) return
	const ids = [...operation.path.matchAll(/\{/g)].map(() => unknownId)
	const body = await bodyOf(walk)
	if (operation.body === 'required' && body === undefined) return
	const answer = await expect(walk, { ids, body }, 404)
	const code = codeOf(answer)
	if (answer.status === 404 && !codes.some((each) => each.code === code))
		server.findings.fail(operation, 404, code, `body /code: is ${code}, which the operation does not have`)
}

async function probeErrors(walk: Walk): Promise<void> {
	const { operation, recipe, server, shared } = walk
	if (shared && (recipe.lasting || recipe.wide)) return
	for (const { status, code, ids, body, lasting } of recipe.errors ?? []) {
		if ((shared && lasting) || !documents(operation, status, code) || (body !== undefined && operation.body === 'none')) continue
		const own = await (ids ?? (operation.path.includes('{') ? recipe.make : undefined))?.(server)
		const sent = typeof body === 'function' ? await body(server) : body
		await expect(walk, { ids: [own ?? []].flat(), body: sent ?? (await bodyOf(walk)) }, status, code)
	}
}

const bodyOf = async ({ operation, recipe, server }: Walk) => (operation.body === 'none' ? undefined : recipe.body?.(server))

async function probeValid(walk: Walk): Promise<void> {
	const { operation, recipe, server, shared, testPayments } = walk
	const why =
		recipe.skip ??
		(recipe.pays && !testPayments ? 'asks the payment processor' : undefined) ??
		(shared && recipe.wide ? 'changes the whole organization' : undefined) ??
		(shared && recipe.lasting ? 'makes what cannot be removed' : undefined)
	if (why !== undefined) {
		server.findings.notAsked.set(operation.id, why)
		return
	}
	const ids = [operation.path.includes('{') ? ((await recipe.make?.(server)) ?? []) : []].flat()
	const body = await bodyOf(walk)
	if (takes(operation, 'If-Match'))
		await expect(walk, { ids, body, headers: { 'if-match': '"999999"' } }, 412, 'version_mismatch')
	const headers = operation.idempotent ? { 'idempotency-key': `verify-${crypto.randomUUID()}` } : undefined
	const asked: Asked = { ids, body, ...(headers && { headers }) }
	const answer = await expect(walk, asked, success(operation))
	if (answer.status >= 300) return
	if (operation.method === 'POST') server.noteMade(operation.id, answer, ids)
	if (operation.idempotent) await probeIdempotency(walk, asked, answer)
	if (answer.headers.has('location')) await probeLocation(walk, answer, body)
	if (operation.method === 'PATCH' || operation.method === 'PUT') await probeChange(walk, ids, body, answer)
	if (operation.method === 'GET') await probeReading(walk, asked, answer)
	if (operation.method === 'DELETE') await probeGone(walk, ids)
}

/** The same request with the same key has the same answer and no second effect; another with that key is rejected. */
async function probeIdempotency(walk: Walk, asked: Asked, first: Answer): Promise<void> {
	const { operation, server } = walk
	const again = await expect(walk, asked, first.status)
	const fail = (fault: string) => server.findings.fail(operation, first.status, undefined, fault)
	if (again.headers.get('idempotent-replayed') !== 'true') fail('header Idempotent-Replayed: is missing when a key is sent again')
	if (!isDeepStrictEqual(again.body, first.body)) fail('body /: is another one when a key is sent again')
	if (operation.method === 'POST') server.noteMade(operation.id, again, asked.ids)
	const other = otherThan(asked.body)
	if (other && documents(operation, 422, 'idempotency_key_reused'))
		await expect(walk, { ...asked, body: other }, 422, 'idempotency_key_reused')
}

/** Fields that take any text or number. */
const free = /^(name|notes|reference|reason|label|amountCents|totalCents|durationSeconds|overlapSeconds|graceSeconds|since)$/

/** A valid body that is not this one; undefined when none of its fields takes anything else. */
function otherThan(body: unknown): object | undefined {
	const [name, value] = Object.entries(body ?? {}).find(([field]) => free.test(field)) ?? []
	if (name === undefined) return undefined
	return { ...(body as object), [name]: typeof value === 'number' ? value - 1 : `${value} II` }
}

/** The operation that reads the record that another one changes or deletes. */
const readingOf = ({ path }: Operation) => operations.find((each) => each.method === 'GET' && each.path === path)

/** The operation that reads the record at a path. */
const readingAt = (path: string) =>
	operations.find((each) => each.method === 'GET' && new RegExp(`^${each.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path))

/** The new record is where `Location` says, with the version and the values that were sent. */
async function probeLocation({ operation, server }: Walk, created: Answer, body: unknown): Promise<void> {
	const location = created.headers.get('location') ?? ''
	const fail = (fault: string) => server.findings.fail(operation, created.status, undefined, fault)
	const { id } = created.body as { id?: string }
	if (id !== undefined && !location.endsWith(`/${id}`)) return fail(`header Location: is ${location}, and must end in /${id}`)
	const reading = readingAt(location)
	if (!reading) return fail(`header Location: is ${location}, which no operation reads`)
	const ids = location
		.slice(reading.path.indexOf('{'))
		.split('/')
		.filter((part) => !reading.path.split('/').includes(part))
	const record = await server.ask(reading.id, { ids })
	if (record.status !== 200) return fail(`header Location: ${location} answers ${record.status}`)
	const etag = created.headers.get('etag')
	if (etag !== null && etag !== record.headers.get('etag'))
		fail(`header ETag: is ${etag}, and that of the record ${record.headers.get('etag')}`)
	for (const fault of differences(body, record)) fail(fault)
}

/** The values that were sent as texts, numbers and truth values, and are others in the record. */
function differences(body: unknown, record: Answer): string[] {
	const { data } = (record.body ?? {}) as { data?: Record<string, unknown> }
	if (data === undefined) return []
	return Object.entries((body ?? {}) as object).flatMap(([name, value]) =>
		typeof value === 'object' || !(name in data) || data[name] === value
			? []
			: [`body /data/${name}: is ${JSON.stringify(data[name])} after ${JSON.stringify(value)} was sent`],
	)
}

/** The change is in the record, its version is the one of the answer, and `If-Match` takes it. */
async function probeChange(walk: Walk, ids: readonly string[], body: unknown, changed: Answer): Promise<void> {
	const { operation, server } = walk
	const reading = readingOf(operation)
	if (!reading) return
	const record = await server.ask(reading.id, { ids })
	const fail = (fault: string) => server.findings.fail(operation, changed.status, undefined, fault)
	for (const fault of differences(body, record)) fail(fault)
	const etag = changed.headers.get('etag')
	if (etag === null) return
	if (etag !== record.headers.get('etag')) fail(`header ETag: is ${etag}, and that of the record ${record.headers.get('etag')}`)
	if (takes(operation, 'If-Match')) await expect(walk, { ids, body, headers: { 'if-match': etag } }, success(operation))
}

async function probeReading(walk: Walk, asked: Asked, answer: Answer): Promise<void> {
	const { operation, server } = walk
	const etag = answer.headers.get('etag')
	if (etag !== null && documents(operation, 304)) {
		await expect(walk, { ...asked, headers: { 'if-none-match': etag } }, 304)
		await expect(walk, { ...asked, headers: { 'if-none-match': '"999999"' } }, 200)
	}
	if (!takes(operation, 'limit')) return
	const page = await expect(walk, { ...asked, query: '?limit=1' }, 200)
	const { data } = (page.body ?? {}) as { data?: unknown }
	if (Array.isArray(data) && data.length > 1)
		server.findings.fail(operation, 200, undefined, `body /data: has ${data.length} records with limit=1`)
	const next = /^<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]
	if (next) await expect(walk, { ...asked, query: `?${next.split('?')[1]}` }, 200)
}

/** What was deleted is no longer there. */
async function probeGone({ operation, recipe, server }: Walk, ids: readonly string[]): Promise<void> {
	const reading = readingOf(operation)
	if (!reading || recipe.archives || !documents(reading, 404)) return
	const { status } = await server.ask(reading.id, { ids })
	if (status !== 404) server.findings.fail(operation, 200, undefined, `effect: the record still answers ${status}`)
}
