// The organization's own account at Stripe. A change closes the links of the account before: their money would go there.
import type { Handler } from '../../http/handler.ts'
import { findCredentials, removeCredentials, saveCredentials, sealCredentials } from '../../outside/payment-credentials-store.ts'
import { closeAllPaymentLinks } from '../payment-link-store.ts'

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

export const replace: Handler<'organization.paymentCredentials.replace'> = async ({ body, caller }, { db, services, now }) => {
	const { organizationId } = caller
	const row = sealCredentials(services.secrets, organizationId, body, now)
	await saveCredentials(db, row)
	await closeAllPaymentLinks(db, organizationId)
	return { status: 200, body: { ok: true } }
}

export const remove: Handler<'organization.paymentCredentials.delete'> = async ({ caller }, { db }) => {
	const { organizationId } = caller
	if (await removeCredentials(db, organizationId)) await closeAllPaymentLinks(db, organizationId)
	return { status: 200, body: { ok: true } }
}
