// The kinds of jobs. They are stored: a kind keeps its name.
export const jobKinds = {
	/** Marks an organization's invoices overdue (billing/invoices/overdue.ts). */
	overdue: 'overdue',
	/** Deactivates a retired payment link at its processor (billing/payment-links/closing.ts). */
	closeLink: 'closeLink',
	/** Removes an organization's kept answers (platform/http/idempotency.ts). */
	keptAnswers: 'keptAnswers',
	/** Removes an organization's old events and deliveries (integration/webhooks/engine/retention-store.ts). */
	retention: 'retention',
	/** Begins the next run of a sync (integration/syncs/jobs/schedule.ts). */
	syncSchedule: 'syncSchedule',
	/** Removes an organization's old runs, and what its links keep of the provider's records (integration/syncs/jobs/retention-store.ts). */
	syncRetention: 'syncRetention',
	/** Begins a run of a sync since its provider said that something changed (integration/syncs/jobs/webhooks.ts). */
	syncWebhook: 'syncWebhook',
	/** Uses the refresh token of a connection before it ends (integration/connections/keep-alive.ts). */
	tokenKeepAlive: 'tokenKeepAlive',
	/** A run of a sync (integration/syncs/engine/engine.ts). */
	syncRun: 'syncRun',
	/** Makes the words anew by which records of an older version are found (billing/search/hits/renew-store.ts). */
	searchTexts: 'searchTexts',
	/** Trims names that an older version has stored (accounts/organizations/trim-store.ts). */
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
