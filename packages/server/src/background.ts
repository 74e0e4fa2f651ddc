// What a process does without a request: the jobs by kind, and loops for what belongs to this process or to no organization.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { repairJobs } from './accounts/organizations/repair-store.ts'
import { trimNames } from './accounts/organizations/trim-store.ts'
import { markAllOverdue } from './billing/invoices/overdue.ts'
import { concludeLostMails } from './billing/invoices/sharing/conclude.ts'
import { closeLink } from './billing/payment-links/closing.ts'
import { renewSearchTexts } from './billing/search/hits/renew-store.ts'
import type { Config } from './config.ts'
import { keepAlive } from './integration/connections/keep-alive.ts'
import { runSync } from './integration/syncs/engine/engine.ts'
import { removeOldRuns } from './integration/syncs/jobs/retention-store.ts'
import { runSchedule } from './integration/syncs/jobs/schedule.ts'
import { runWebhook } from './integration/syncs/jobs/webhooks.ts'
import { releaseHeld, workOffBacklogs } from './integration/webhooks/engine/backlogs.ts'
import { DeliveryEngine } from './integration/webhooks/engine/engine.ts'
import { releaseOverlong, repairQueue } from './integration/webhooks/engine/repair-store.ts'
import { removeRetained, sweepHosts } from './integration/webhooks/engine/retention-store.ts'
import { dayMs } from './platform/base/dates.ts'
import type { Database } from './platform/db/database.ts'
import { removeKeptAnswers } from './platform/http/idempotency.ts'
import type { Services } from './platform/outside/services.ts'
import type { Traces } from './platform/outside/traces/traces.ts'
import { Worker } from './platform/work/jobs.ts'
import { ensureJobs, releaseJobs } from './platform/work/jobs-store.ts'
import { jobKinds } from './platform/work/kinds.ts'
import { every, type Loop, once } from './platform/work/loop.ts'
import { resealJobs } from './platform/work/sealing.ts'
import { analyzeYoungTables } from './platform/work/statistics-store.ts'

export interface BackgroundOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	readonly now: () => number
	readonly services: Services
	/** The number of requests that this process has received so far. */
	readonly requests: () => number
	/** Called with what the attempt of a delivery, or a part of a run, stored. */
	readonly stored: (organizationId: string, bytes: number) => void
	/** Throws ApiError when an organization has stored what it may store today. */
	readonly requireStorage: (organizationId: string) => void
	/** Called with the outcome of each attempt of a delivery. */
	readonly attempted?: ((outcome: string) => void) | undefined
	/** Called with what became of each run of a sync. */
	readonly ran?: ((outcome: string, error: string) => void) | undefined
	readonly traces?: Traces | undefined
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
	const engine = new DeliveryEngine({
		...options,
		egress: options.services.egress,
		secrets: options.services.secrets,
		schedule: config.WEBHOOK_RETRY_SECONDS,
		timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
		hostRate: config.WEBHOOK_HOST_RATE,
	})
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

const jobHandlers = ({ db, config, log, services, requests, stored, requireStorage, ran }: BackgroundOptions) => ({
	[jobKinds.overdue]: markAllOverdue(db),
	[jobKinds.closeLink]: closeLink(db, services.payments),
	[jobKinds.keptAnswers]: removeKeptAnswers(db),
	[jobKinds.retention]: removeRetained(db, config.WEBHOOK_RETENTION_DAYS),
	[jobKinds.syncRetention]: removeOldRuns(db),
	[jobKinds.syncSchedule]: runSchedule(db),
	[jobKinds.syncWebhook]: runWebhook(db),
	[jobKinds.tokenKeepAlive]: keepAlive(db, services),
	[jobKinds.syncRun]: runSync({
		db,
		services,
		requests,
		stored,
		requireStorage,
		keptMs: config.WEBHOOK_RETENTION_DAYS * dayMs,
		ended: ({ outcome, error, ...run }) => {
			ran?.(outcome, error ?? '')
			if (error) log.warn({ ...run, outcome, error }, 'a run of a sync failed, or waits')
		},
		failed: (err, runId) => log.error({ err, runId }, 'a run of a sync cannot go on'),
	}),
	[jobKinds.searchTexts]: renewSearchTexts(db),
	[jobKinds.trimNames]: trimNames(db, log),
	[jobKinds.repair]: repairJobs,
	...resealJobs(db, services.secrets),
})

/**
 * Loops beside the jobs. Each asks an index for rows that are in a state of their own, which most of the time has none: a job would
 * be one more row for each. Hosts belong to no organization.
 */
const startLoops = ({ db, config, log, now }: BackgroundOptions, workers: readonly Worker[]): Loop[] => [
	every(500, (signal) => workOffBacklogs(db, now, signal), log),
	every(1_000, (signal) => releaseHeld(db, now(), signal), log),
	every(10_000, () => concludeLostMails(db, now), log),
	every(60_000, async () => void (await workers[0]?.releaseOverlong()), log),
	every(60_000, (signal) => releaseOverlong(db, config.WEBHOOK_RETRY_SECONDS, now(), signal), log),
	every(600_000, (signal) => repairQueue(db, now(), signal), log),
	every(3_600_000, (signal) => sweepHosts(db, now(), signal), log),
	...(db.dialect === 'postgres' ? [every(1_000, () => analyzeYoungTables(db), log)] : []),
]
