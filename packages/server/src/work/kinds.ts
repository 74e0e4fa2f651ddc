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
	/** Makes jobs that a server of an older version did not write. */
	repair: 'repair',
} as const
