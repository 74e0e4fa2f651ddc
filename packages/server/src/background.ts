// What a process does without a request: the jobs by kind, and loops for what belongs to this process or to no organization.
import { setTimeout as sleep } from 'node:timers/promises'
import { accounts } from './accounts/part.ts'
import { billing } from './billing/part.ts'
import type { Config } from './config.ts'
import { integration } from './integration/part.ts'
import { removeKeptAnswers } from './platform/http/idempotency.ts'
import type { WorkContext } from './platform/part.ts'
import { Worker } from './platform/work/jobs.ts'
import { ensureJobs, releaseJobs } from './platform/work/jobs-store.ts'
import { jobKinds } from './platform/work/kinds.ts'
import { every, type Loop, once } from './platform/work/loop.ts'
import { resealJobs } from './platform/work/sealing.ts'
import { analyzeYoungTables } from './platform/work/statistics-store.ts'

export interface BackgroundOptions extends WorkContext {
	readonly config: Config
}

export interface Background {
	/** Resolves when the work has begun, or could not: it then tries again by itself, until it can or is stopped. */
	readonly begun: Promise<unknown>
	/** Runs every job that is due, and resolves when they have ended. For tests. */
	drainJobs(): Promise<void>
	/** Begins nothing more, and waits for what is under way; attempts of deliveries are broken off after `graceMs`. */
	stop(graceMs: number): Promise<unknown>
}

/** How long the beginning waits after it has failed, as without a database. */
const pauseMs = 1_000

/** Starts deliveries, jobs and loops, each of which any number of processes may have on one database. */
export function startBackground(options: BackgroundOptions): Background {
	const { db, config, log, now } = options
	const leaseMs = config.JOB_LEASE_SECONDS * 1_000
	const { [jobKinds.syncRun]: run, ...handlers } = jobHandlers(options)
	// Runs have places of their own: one may wait for half a minute for its provider, and invoices are overdue at midnight.
	const workers = [handlers, { [jobKinds.syncRun]: run }].map((handlers) => new Worker({ db, handlers, now, log, leaseMs }))
	const engine = integration.engine(options)
	let loops: readonly Loop[] = []
	const begin = async () => {
		const repair = { organizationId: '', kind: jobKinds.repair, resourceIds: [''], dueAt: now() }
		await db.transaction((tx) => ensureJobs(tx, repair))
		// Only one server uses a SQLite database: the process that held any lease has ended.
		if (db.dialect === 'sqlite') await db.transaction((tx) => releaseJobs(tx, now(), 0))
		await engine.start()
		for (const worker of workers) worker.start()
		loops = startLoops(options, workers)
	}
	const begun = Promise.withResolvers<void>()
	const beginning = once(async (signal) => {
		while (!signal.aborted) {
			try {
				return await begin()
			} catch (err) {
				log.warn({ err }, 'background work cannot begin; it is tried again')
				begun.resolve()
				await sleep(pauseMs, undefined, { signal }).catch(() => {})
			}
		}
	}, log)
	beginning.ended.then(begun.resolve)
	return {
		begun: begun.promise,
		async drainJobs() {
			await beginning.ended
			do for (const worker of workers) await worker.drain()
			while ((await Promise.all(workers.map((worker) => worker.isAnyDue()))).some(Boolean))
		},
		async stop(graceMs) {
			await beginning.stop()
			return Promise.all([engine.stop(graceMs), ...[...workers, ...loops].map((one) => one.stop())])
		},
	}
}

const jobHandlers = (options: BackgroundOptions) => ({
	...accounts.jobs(options),
	...billing.jobs(options),
	...integration.jobs(options),
	[jobKinds.keptAnswers]: removeKeptAnswers(options.db),
	...resealJobs(options.db, options.services.secrets),
})

const startLoops = (options: BackgroundOptions, workers: readonly Worker[]): Loop[] => [
	...billing.loops(options),
	...integration.loops(options),
	every(60_000, async () => void (await workers[0]?.releaseOverlong()), options.log),
	...(options.db.dialect === 'postgres' ? [every(1_000, () => analyzeYoungTables(options.db), options.log)] : []),
]
