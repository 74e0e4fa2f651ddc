// The kinds of jobs. They are stored: a kind keeps its name.
export const jobKinds = {
	/** Marks an organization's invoices overdue (invoices/overdue.ts). */
	overdue: 'overdue',
	/** Deactivates a retired payment link at its processor (invoices/payments/closing.ts). */
	closeLink: 'closeLink',
	/** Removes an organization's kept answers (http/idempotency.ts). */
	keptAnswers: 'keptAnswers',
	/** Removes an organization's old events and deliveries (webhooks/engine/retention-store.ts). */
	retention: 'retention',
	/** Begins the next run of a sync (syncs/jobs/schedule.ts). */
	syncSchedule: 'syncSchedule',
	/** Removes an organization's old runs, and what its links keep of the provider's records (syncs/jobs/retention-store.ts). */
	syncRetention: 'syncRetention',
	/** Begins a run of a sync since its provider said that something changed (syncs/jobs/webhooks.ts). */
	syncWebhook: 'syncWebhook',
	/** Uses the refresh token of a connection before it ends (connections/keep-alive.ts). */
	tokenKeepAlive: 'tokenKeepAlive',
	/** A run of a sync (syncs/engine/engine.ts). */
	syncRun: 'syncRun',
	/** Makes the words anew by which records of an older version are found (search/hits/renew-store.ts). */
	searchTexts: 'searchTexts',
	/** Trims names that an older version has stored (organizations/trim-store.ts). */
	trimNames: 'trimNames',
	/** Makes jobs that a server of an older version did not write. */
	repair: 'repair',
} as const

/** Kinds whose jobs wait for a time that was set, and look once an hour whether it is still right. Index `jobs_waiting` has them. */
export const waitingKinds = [jobKinds.syncSchedule, jobKinds.syncRun, jobKinds.syncWebhook] as const

const longestRestMs = 3_600_000

/** When such a job is due that waits for a time. */
export const restUntil = (at: number, now: number): number => Math.min(at, now + longestRestMs)

/** What is due later began to wait before the clock was set back. */
export const longestRest = (now: number): number => now + longestRestMs + 60_000
