import type { UserRole } from '@remit/sdk'

/** From the lowest to the highest, with what each may do. */
export const roles: readonly { readonly id: UserRole; readonly label: string; readonly hint: string }[] = [
	{ id: 'member', label: 'Member', hint: 'Reads everything; writes companies, deals, time and invoices, and sends them.' },
	{ id: 'manager', label: 'Manager', hint: 'As a member; also deletes invoices, and keeps tax rates, pipelines and syncs.' },
	{ id: 'admin', label: 'Admin', hint: 'Everything, also people, API keys, webhooks and the organization.' },
]

export const isAtLeast = (role: UserRole, least: UserRole): boolean => {
	const rank = (one: UserRole) => roles.findIndex(({ id }) => id === one)
	return rank(role) >= rank(least)
}
