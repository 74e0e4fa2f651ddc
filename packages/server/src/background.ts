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
import { releaseHeld, workOffBacklogs } from './webhooks/engine/backlogs.ts'
import { releaseOverlong, repairQueue } from './webhooks/engine/repair-store.ts'
import { removeRetained, sweepHosts } from './webhooks/engine/retention-store.ts'
import type { JobHandlers } from './work/jobs.ts'
import { jobKinds } from './work/kinds.ts'
import { every, type Loop, once } from './work/loop.ts'
import { warnOfLostKeys } from './work/sealing.ts'

export interface BackgroundOptions {
	readonly db: Database
	readonly config: Config
	readonly log: Logger
	readonly now: () => number
	readonly services: Services
}

export const jobHandlers = ({ db, config, services }: BackgroundOptions): JobHandlers => ({
	[jobKinds.overdue]: markAllOverdue(db),
	[jobKinds.closeLink]: closeLink(db, services.payments),
	[jobKinds.keptAnswers]: removeKeptAnswers(db),
	[jobKinds.retention]: removeRetained(db, config.WEBHOOK_RETENTION_DAYS),
	[jobKinds.repair]: repairJobs,
})

/**
 * Loops beside the jobs. Each asks an index for rows that are in a state of their own, which most of the time has none: a job would
 * be one more row for each. Hosts belong to no organization.
 */
export const startLoops = ({ db, config, log, now, services }: BackgroundOptions): Loop[] => [
	once((signal) => warnOfLostKeys(db, services.secrets, log, signal), log),
	every(500, (signal) => workOffBacklogs(db, now, signal), log),
	every(1_000, (signal) => releaseHeld(db, now(), signal), log),
	every(10_000, () => concludeLostMails(db, now()), log),
	every(60_000, (signal) => releaseOverlong(db, config.WEBHOOK_RETRY_SECONDS, now(), signal), log),
	every(600_000, (signal) => repairQueue(db, now(), signal), log),
	every(3_600_000, (signal) => sweepHosts(db, now(), signal), log),
]
