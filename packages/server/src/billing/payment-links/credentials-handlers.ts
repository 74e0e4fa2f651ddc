// The organization's own account at Stripe. A change closes the links of the account before: their money would go there.
import { recordChange, type Writing } from '../../platform/db/audit-log.ts'
import type { Handler } from '../../platform/http/handler.ts'
import {
	findCredentials,
	removeCredentials,
	saveCredentials,
	sealCredentials,
} from '../../platform/outside/payment-credentials-store.ts'
import { closeAllPaymentLinks } from '../invoices/payment-link-store.ts'

export const get: Handler<'organization.paymentCredentials.get'> = async ({ caller }, { db, services }) => {
	const { organizationId } = caller
	const row = await findCredentials(db, organizationId)
	const name = await services.payments.nameOf(db, organizationId)
	const account = name === 'stripe:organization' ? 'organization' : name === undefined ? 'none' : 'server'
	const data = {
		account,
		configured: row !== undefined,
		secretKeyLastFour: row?.secretKeyLastFour ?? null,
		webhookSecretLastFour: row?.webhookSecretLastFour ?? null,
		webhookUrl: `${services.baseUrl}/payments/stripe/webhook/${organizationId}`,
		updatedAt: row?.updatedAt ?? null,
	} as const
	return { status: 200, body: { data } }
}

export const replace: Handler<'organization.paymentCredentials.replace'> = async ({ body, caller }, context) => {
	const { db, services, now } = context
	const { organizationId } = caller
	const before = await findCredentials(db, organizationId)
	const row = sealCredentials(services.secrets, organizationId, body, now)
	await saveCredentials(db, row)
	await closeAllPaymentLinks(db, organizationId, now)
	await note(context, organizationId, before, row)
	return { status: 200, body: { ok: true } }
}

export const remove: Handler<'organization.paymentCredentials.delete'> = async ({ caller }, context) => {
	const { db, now } = context
	const { organizationId } = caller
	const before = await findCredentials(db, organizationId)
	if (await removeCredentials(db, organizationId)) await closeAllPaymentLinks(db, organizationId, now)
	await note(context, organizationId, before, undefined)
	return { status: 200, body: { ok: true } }
}

type Shown = { readonly secretKeyLastFour: string; readonly webhookSecretLastFour: string }

/** Notes in the audit log which keys there were and are, by what answers show of them. */
function note(write: Writing, organizationId: string, before: Shown | undefined, after: Shown | undefined): Promise<unknown> {
	const shown = (row: Shown | undefined) => ({
		paymentCredentials: row
			? { secretKeyLastFour: row.secretKeyLastFour, webhookSecretLastFour: row.webhookSecretLastFour }
			: null,
	})
	const record = { organizationId, resource: 'organization_settings', resourceId: organizationId } as const
	return recordChange(write, { ...record, action: 'updated', before: shown(before), after: shown(after) })
}
