// What an SDK does when its server fails: how often it asks, with what, and what the caller gets.
import { type Answer, AnsweringServer, json } from '../../sdk/test/answering-server.ts'
import { required, type Sdk } from './clients.ts'

export const failures = ['cut', 408, 409, 429, 500, 502, 503, 504] as const

export interface Behaviour {
	/** Requests of a read and of a create, by failure. */
	readonly tries: Record<string, { readonly read: number; readonly create: number }>
	/** Whether the tries of a create have one Idempotency-Key. */
	readonly key: string
	/** Seconds between the tries after `Retry-After: 1`. */
	readonly wait: string
	readonly error: string
	readonly paging: string
}

export async function behaviourOf(sdk: Sdk, folder: string): Promise<Behaviour> {
	const far = await new AnsweringServer().listen()
	const calls = sdk.client(required(folder, sdk.name), far.port)
	const asked = async (call: () => Promise<unknown>, answer: Answer) => {
		far.arrived.length = 0
		far.answer = answer
		const error = await call().then(
			() => undefined,
			(reason: unknown) => reason,
		)
		return { error, arrived: [...far.arrived] }
	}
	const failing = (failure: (typeof failures)[number]): Answer =>
		failure === 'cut' ? (response) => response.destroy() : json(failure, {})
	const tries: Record<string, { read: number; create: number }> = {}
	for (const failure of failures) {
		const read = (await asked(calls.get, failing(failure))).arrived.length
		tries[failure] = { read, create: (await asked(calls.create, failing(failure))).arrived.length }
	}
	const cuts = (await asked(calls.create, failing('cut'))).arrived
	const keys = new Set(cuts.map(({ headers }) => headers['idempotency-key']))
	const key =
		cuts.length < 2 ? 'not tried again' : keys.has(undefined) ? 'none' : keys.size === 1 ? 'one, kept' : 'another each time'
	const limited = (await asked(calls.get, json(429, {}, { 'retry-after': '1' }))).arrived
	const [first, second] = limited
	const wait = first && second ? `${((second.at - first.at) / 1000).toFixed(1)} s` : 'not tried again'
	const { body, headers } = sdk.notFound
	const { error } = await asked(calls.get, json(404, body, headers))
	const paging = await pagingOf(sdk, calls.list, far)
	far.close()
	return { tries, key, wait, error: describe(error), paging }
}

/** The class of the error, and which of its parts say what happened. */
function describe(error: unknown): string {
	const found = error as Record<string, unknown>
	const has = (...names: string[]) => names.find((name) => found[name] !== undefined && found[name] !== null)
	const parts = [has('status', 'statusCode', 'code'), has('requestId', 'requestID', 'request_id')]
	const code = has('code') ?? ((found.body as { code?: string } | undefined)?.code ? 'body.code' : undefined)
	const name = found.name === 'Error' ? found.constructor.name : found.name
	return [`\`${name}\``, ...new Set([parts[0], code, parts[1]].filter((part) => part !== undefined))].join(', ')
}

async function pagingOf(sdk: Sdk, list: (() => AsyncIterable<unknown>) | undefined, far: AnsweringServer): Promise<string> {
	if (!list || !sdk.page) return 'by hand'
	far.arrived.length = 0
	far.answer = (response, request) => {
		const { url } = request
		const { searchParams } = new URL(url, 'http://far.end')
		const from = Number(searchParams.get('starting_after') ?? searchParams.get('after') ?? searchParams.get('offset') ?? 0)
		const { body, headers } = sdk.page?.(from, url) ?? { body: {} }
		json(200, body, headers)(response, request)
	}
	let count = 0
	for await (const _ of list()) if (++count > 20) break
	return `\`for await\`: ${count} of 6 in ${far.arrived.length} requests`
}
