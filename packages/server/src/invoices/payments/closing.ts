// Deactivates links by which nobody is to pay any more at their processor. That is done after the commit, and again until it
// works: until then a payment through such a link is judged as any other (receive.ts).
import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
import { listOrganizations } from '../../organizations/store.ts'
import type { PaymentProcessor } from '../../outside/payments/processor.ts'
import { listClosingLinks, setLinkStatus } from '../payment-link-store.ts'

export async function deactivateClosingLinks(db: Database, processor: PaymentProcessor | undefined, log: Logger): Promise<void> {
	for (const { id: organizationId } of await listOrganizations(db)) {
		for (const link of await listClosingLinks(db, organizationId)) {
			try {
				// A link of a processor that is no longer set up cannot be reached; its payments would find no webhook either.
				if (processor?.name === link.processor) await processor.deactivate(link.externalId)
			} catch (err) {
				log.warn({ err, organizationId, link: link.id }, 'a payment link could not be deactivated; it is tried again')
				continue
			}
			await db.transaction((tx) => setLinkStatus(tx, link, 'closed'))
		}
	}
}
