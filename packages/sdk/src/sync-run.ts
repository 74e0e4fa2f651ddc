// A run of a sync, followed to its end by asking for it again.
import { ApiPromise, type Reading, type WithResponse } from './api-promise.ts'
import { rest } from './deadline.ts'
import { ConnectionError, RateLimitError, RemitError, ServerError, TimeoutError } from './errors.ts'
import type { SyncRun } from './generated/contract.ts'
import type { RequestOptions } from './options.ts'
import type { Transport } from './transport.ts'

/** Options of following a run. */
export interface FollowRunOptions extends Pick<RequestOptions, 'signal' | 'timeout' | 'headers'> {
	/**
	 * Milliseconds before the first look at the run, 500 unless it is set. Each pause is half as long again as the one before, up to 5 s,
	 * or 15 s while the run waits: a minute has about 12 requests of the 100 that a key may make.
	 */
	pollInterval?: number
}

/** A run that `done()` waited for ended as `failed` or `cancelled`. What it wrote stays; `run` is all that is known of it. */
export class SyncRunFailedError extends RemitError {
	override readonly name = 'SyncRunFailedError'
	/** The run, as it ended. */
	readonly run: SyncRun

	constructor(run: SyncRun) {
		super(`The run ${run.id} ${run.status === 'failed' ? 'failed' : 'was cancelled'}${reasonOf(run)}`)
		this.run = run
	}
}

const reasonOf = ({ error }: SyncRun) => (error ? `: ${error.code}: ${error.detail}` : '')

/** A promise of the run as the server answered it. The run itself goes on at the server: `progress` and `done` follow it. */
export class SyncRunPromise extends ApiPromise<SyncRun> {
	readonly #transport: Pick<Transport, 'record'>

	constructor(answer: Promise<WithResponse<SyncRun>>, reading: Reading, transport: Pick<Transport, 'record'>) {
		super(answer, reading)
		this.#transport = transport
	}

	/**
	 * The run each time that it has changed, from now until its end, which comes last, whatever it is. A run that waits, for the
	 * provider's limit or for somebody to confirm its deletions, is one of them. A look that fails for a passing reason is
	 * repeated; after seven in a row its error is thrown. Breaking off the loop leaves the run alone.
	 *
	 * @param options - How to follow it, and a signal that ends that.
	 * @returns The run, over and over.
	 * @example
	 * ```ts
	 * for await (const { status, progress } of remit.syncs.run(id).progress()) console.log(status, progress.read)
	 * ```
	 */
	async *progress(options: FollowRunOptions = {}): AsyncGenerator<SyncRun, void, undefined> {
		const { pollInterval = 500, signal, ...others } = options
		let run: SyncRun = await this
		signal?.throwIfAborted()
		yield run
		let pause = pollInterval
		for (let failures = 0; run.finishedAt === null; ) {
			await rest(Math.min(pause, run.status === 'waiting' ? longestWaitMs : longestPauseMs), signal)
			pause *= 1.5
			const path = { id: run.syncId, runId: run.id }
			try {
				const next = await this.#transport.record<SyncRun>('GET', '/syncs/{id}/runs/{runId}', {
					path,
					options: { ...others, maxRetries: 0, ...(signal && { signal }) },
				})
				failures = 0
				if (JSON.stringify(next) === JSON.stringify(run)) continue
				run = next
			} catch (error) {
				if (!isPassing(error) || ++failures >= mostFailures) throw error
				if (error instanceof RateLimitError) await rest((error.retryAfter ?? 0) * 1000, signal)
				continue
			}
			yield run
		}
	}

	/**
	 * Waits until the run has come to its end. With `partially_succeeded` it resolves too: `progress.failed` records could not be
	 * written, which `remit.syncs.runs.errors` lists. A run that waits for a confirmation or for its sync to be resumed waits as long as
	 * it takes: pass a `signal` to give up.
	 *
	 * @param options - How to follow it, and a signal that ends that.
	 * @returns The run, as it ended.
	 * @throws `SyncRunFailedError` when it ended as `failed` or `cancelled`, and what `progress` throws.
	 * @example
	 * ```ts
	 * const { progress } = await remit.syncs.run(id).done({ signal: AbortSignal.timeout(600_000) })
	 * ```
	 */
	async done(options?: FollowRunOptions): Promise<SyncRun> {
		let run: SyncRun | undefined
		for await (run of this.progress(options));
		if (run?.status === 'failed' || run?.status === 'cancelled') throw new SyncRunFailedError(run)
		return run as SyncRun
	}
}

const longestPauseMs = 5_000
const longestWaitMs = 15_000
const mostFailures = 7

const isPassing = (error: unknown) =>
	[ConnectionError, RateLimitError, ServerError, TimeoutError].some((kind) => error instanceof kind)
