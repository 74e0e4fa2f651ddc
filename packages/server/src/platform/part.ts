// What a context gives to the app, which adds the parts up and lists nothing itself.
import type { Logger } from 'pino'
import type { Database } from './db/database.ts'
import type { ErasableTables } from './db/erasable.ts'
import type { Handlers } from './http/handler.ts'
import type { Services } from './outside/services.ts'
import type { Traces } from './outside/traces/traces.ts'
import type { JobHandlers } from './work/jobs.ts'
import type { Loop } from './work/loop.ts'

/** The settings of work without a request. */
export interface WorkSettings {
	readonly WEBHOOK_RETRY_SECONDS: readonly number[]
	readonly WEBHOOK_TIMEOUT_SECONDS: number
	readonly WEBHOOK_HOST_RATE: number
	readonly WEBHOOK_RETENTION_DAYS: number
}

/** What work without a request has. */
export interface WorkContext {
	readonly db: Database
	readonly config: WorkSettings
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

/** Work that this process claims for itself. */
export interface Engine {
	start(): Promise<void>
	/** Begins nothing more, and waits for what is in progress; it is broken off after `graceMs`. */
	stop(graceMs: number): Promise<unknown>
}

export interface Part {
	/** The handlers of its operations. */
	readonly operations: Partial<Handlers>
	/** The handlers of its jobs, by kind. */
	jobs(context: WorkContext): JobHandlers
	/**
	 * Loops beside the jobs. Each asks an index for rows that are in a state of their own, which most of the time has none: a job would
	 * be one more row for each.
	 */
	loops?(context: WorkContext): readonly Loop[]
	/** Work in a queue of its own. */
	engine?(context: WorkContext): Engine
	readonly erasable: ErasableTables
}
