// What a process does without a request: the jobs by kind, and loops for what belongs to this process or to no organization.
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Database } from './db/database.ts'
import { removeKeptAnswers } from './http/idempotency.ts'
import { markAllOverdue } from './invoices/overdue.ts'
import { closeLink } from './invoices/payments/closing.ts'
import { concludeLostMails } from './invoices/sharing/conclude.ts'
import { repairJobs } from './organizations/repair-store.ts'
import type { Services } from './outside/services.ts'
import type { Traces } from './outside/traces/traces.ts'
import { releaseHeld, workOffBacklogs } from './webhooks/engine/backlogs.ts'
import { DeliveryEngine } from './webhooks/engine/engine.ts'
import { releaseOverlong, repairQueue } from './webhooks/engine/repair-store.ts'
import { removeRetained, sweepHosts } from './webhooks/engine/retention-store.ts'
import { type JobHandlers, Worker } from './work/jobs.ts'
import { ensureJobs } from './work/jobs-store.ts'
import { jobKinds } from './work/kinds.ts'
import { every, type Loop } from './work/loop.ts'
import { resealJobs } from './work/sealing.ts'

export interface BackgroundOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	readonly now: () => number
	readonly services: Services
	/** The number of requests that this process has received so far. */
	readonly requests: () => number
	/** Called with what the attempt of a delivery stored. */
	readonly stored: (organizationId: string, bytes: number) => void
	/** Called with the outcome of each attempt of a delivery. */
	readonly attempted?: ((outcome: string) => void) | undefined
	readonly traces?: Traces | undefined
}

export interface Background {
	readonly worker: Worker
	/** Begins nothing more, and waits for what is under way; attempts of deliveries are broken off after `graceMs`. */
	stop(graceMs: number): Promise<unknown>
}

/** Starts deliveries, jobs and loops, each of which any number of processes may have on one database. */
export async function startBackground(options: BackgroundOptions): Promise<Background> {
	const { db, config, log, now } = options
	const worker = new Worker({ db, handlers: jobHandlers(options), now, log })
	const repair = { organizationId: '', kind: jobKinds.repair, resourceIds: [''], dueAt: now() }
	await db.transaction((tx) => ensureJobs(tx, repair))
	await worker.start()
	const engine = new DeliveryEngine({
		...options,
		egress: options.services.egress,
		secrets: options.services.secrets,
		schedule: config.WEBHOOK_RETRY_SECONDS,
		timeoutMs: config.WEBHOOK_TIMEOUT_SECONDS * 1000,
		hostRate: config.WEBHOOK_HOST_RATE,
	})
	await engine.start()
	const loops = startLoops(options, worker)
	return { worker, stop: (graceMs) => Promise.all([engine.stop(graceMs), worker.stop(), ...loops.map((loop) => loop.stop())]) }
}

const jobHandlers = ({ db, config, services }: BackgroundOptions): JobHandlers => ({
	[jobKinds.overdue]: markAllOverdue(db),
	[jobKinds.closeLink]: closeLink(db, services.payments),
	[jobKinds.keptAnswers]: removeKeptAnswers(db),
	[jobKinds.retention]: removeRetained(db, config.WEBHOOK_RETENTION_DAYS),
	[jobKinds.repair]: repairJobs,
	...resealJobs(db, services.secrets),
})

/**
 * Loops beside the jobs. Each asks an index for rows that are in a state of their own, which most of the time has none: a job would
 * be one more row for each. Hosts belong to no organization.
 */
const startLoops = ({ db, config, log, now }: BackgroundOptions, worker: Worker): Loop[] => [
	every(500, (signal) => workOffBacklogs(db, now, signal), log),
	every(1_000, (signal) => releaseHeld(db, now(), signal), log),
	every(10_000, () => concludeLostMails(db, now()), log),
	every(60_000, () => worker.releaseOverlong(), log),
	every(60_000, (signal) => releaseOverlong(db, config.WEBHOOK_RETRY_SECONDS, now(), signal), log),
	every(600_000, (signal) => repairQueue(db, now(), signal), log),
	every(3_600_000, (signal) => sweepHosts(db, now(), signal), log),
]
