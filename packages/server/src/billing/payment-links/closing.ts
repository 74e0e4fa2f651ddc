// Deactivates a retired payment link at its processor: after the commit that retired it, and again until it succeeds. Until then
// receive.ts treats a payment by such a link like any other.
import type { Database } from '../../platform/db/database.ts'
import type { PaymentAccounts } from '../../platform/outside/payment-accounts.ts'
import type { JobHandler } from '../../platform/work/jobs.ts'
import { findClosingLink, setLinkStatus } from '../invoices/payment-link-store.ts'

export const closeLink =
	(db: Database, accounts: PaymentAccounts): JobHandler =>
	async (job) => {
		const { organizationId, resourceId } = job
		const link = await findClosingLink(db, organizationId, resourceId)
		if (!link) return undefined
		// The server cannot reach a processor that is no longer set up, and has no webhook for its payments.
		const processor = await accounts.named(db, organizationId, link.processor)
		await processor?.deactivate(link.externalId)
		await job.part((tx) => setLinkStatus(tx, link, 'closed'))
		return undefined
	}
