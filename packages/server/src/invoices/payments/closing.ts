// Deactivates retired payment links at their processor: after the commit that retired them, and again until it succeeds. Until
// then receive.ts treats a payment by such a link like any other.
import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
import { listOrganizations } from '../../organizations/store.ts'
import type { PaymentAccounts } from '../../outside/payment-accounts.ts'
import { listClosingLinks, setLinkStatus } from '../payment-link-store.ts'

export async function deactivateClosingLinks(db: Database, accounts: PaymentAccounts, log: Logger): Promise<void> {
	for (const { id: organizationId } of await listOrganizations(db)) {
		for (const link of await listClosingLinks(db, organizationId)) {
			try {
				// The server cannot reach a processor that is no longer set up, and has no webhook for its payments.
				const processor = await accounts.named(db, organizationId, link.processor)
				await processor?.deactivate(link.externalId)
			} catch (err) {
				log.warn({ err, organizationId, link: link.id }, 'a payment link could not be deactivated; it is tried again')
				continue
			}
			await db.transaction((tx) => setLinkStatus(tx, link, 'closed'))
		}
	}
}
