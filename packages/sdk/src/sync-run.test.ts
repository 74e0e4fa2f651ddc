import { expect, test } from 'vitest'
import { json, problem } from '../test/answering-server.ts'
import { failure, farEnd } from '../test/far-end.ts'
import { NotFoundError, ServerError, type SyncRun, SyncRunFailedError } from './index.ts'

const far = farEnd()
const begun = { id: 'run_1', syncId: 'syn_1', status: 'queued', error: null, finishedAt: null } as unknown as SyncRun
const ended = { ...begun, status: 'succeeded', finishedAt: 5 }

/** Answers one after the other; the last one again and again. */
const answers = (...all: readonly (object | typeof far.answer)[]) => {
	far.answer = (response, request) => {
		const next = all[Math.min(far.arrived.length, all.length) - 1] as (typeof all)[0]
		if (typeof next === 'function') return next(response, request)
		json(200, { data: next })(response, request)
	}
}
const soon = { pollInterval: 1 }
const run = () => far.client().syncs.run('syn_1')
const statuses = async (runs: AsyncIterable<SyncRun>) => {
	const seen: string[] = []
	for await (const { status } of runs) seen.push(status)
	return seen
}

test('a run that is awaited is as the server answered it', async () => {
	answers(begun)
	expect(await run()).toEqual(begun)
	expect((await run().withResponse()).response.status).toBe(200)
	expect(far.arrived).toHaveLength(2)
})

test('its progress has each change once, one that waits among them, and its end last', async () => {
	answers(begun, begun, { ...begun, status: 'running' }, { ...begun, status: 'waiting', waitingUntil: 4 }, ended)
	expect(await statuses(run().progress(soon))).toEqual(['queued', 'running', 'waiting', 'succeeded'])
	expect(far.arrived.map(({ method, url }) => `${method} ${url}`)).toEqual([
		'POST /syncs/syn_1/run',
		...Array(4).fill('GET /syncs/syn_1/runs/run_1'),
	])
})

test('a run that somebody else began is followed in the same way, also when it has ended', async () => {
	answers(ended)
	const { runs } = far.client().syncs
	expect(await statuses(runs.get('syn_1', 'run_1').progress())).toEqual(['succeeded'])
	expect(await runs.get('syn_1', 'run_1').done()).toEqual(ended)
})

test('done() has the run as it ended, also when some of its records failed', async () => {
	answers(begun, { ...ended, status: 'partially_succeeded' })
	expect(await run().done(soon)).toMatchObject({ status: 'partially_succeeded' })
})

test.each([
	['failed', { code: 'provider_failed', detail: 'It is away.' }, 'The run run_1 failed: provider_failed: It is away.'],
	['cancelled', null, 'The run run_1 was cancelled'],
])('done() of a run that is %s throws it', async (status, error, message) => {
	answers(begun, { ...ended, status, error })
	const thrown = await failure(run().done(soon))
	expect(thrown).toBeInstanceOf(SyncRunFailedError)
	expect(thrown).toMatchObject({ name: 'SyncRunFailedError', message, run: { status } })
})

test('a look that fails for a passing reason is repeated, and the seventh in a row is thrown', async () => {
	const away = problem(503, 'unavailable')
	answers(begun, away, problem(429, 'rate_limited', { 'Retry-After': '0' }), ended)
	expect(await run().done(soon)).toEqual(ended)
	far.arrived.length = 0
	answers(begun, away)
	expect(await failure(run().done(soon))).toBeInstanceOf(ServerError)
	expect(far.arrived).toHaveLength(8)
})

test('what will not pass is thrown at once', async () => {
	answers(begun, problem(404, 'sync_not_found'))
	expect(await failure(run().done(soon))).toBeInstanceOf(NotFoundError)
	answers(problem(404, 'sync_not_found'))
	expect(await failure(far.client().syncs.run('syn_2').done(soon))).toBeInstanceOf(NotFoundError)
})

test('a signal ends a pause, and the options of a call hold for each look', async () => {
	answers(begun)
	const controller = new AbortController()
	const following = run().done({ signal: controller.signal, pollInterval: 60_000 })
	await expect.poll(() => far.arrived.length).toBe(1)
	controller.abort(new Error('enough'))
	expect(await failure(following)).toMatchObject({ message: 'enough' })
	expect(await failure(run().done({ signal: AbortSignal.abort(new Error('before')) }))).toMatchObject({ message: 'before' })
	far.arrived.length = 0
	answers(begun, ended)
	await run().done({ ...soon, headers: { 'X-Team': 'a' } })
	expect(far.arrived[1]?.headers).toMatchObject({ 'x-team': 'a' })
})
