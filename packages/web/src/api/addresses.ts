// What more than the table of routes needs to know of addresses: what their query may say, and the pages of the settings.

export const invoiceTabs = ['draft', 'open', 'overdue', 'paid'] as const
export const invoiceSorts = ['dueDate', 'totalCents', 'invoiceNumber', 'issuedDate'] as const

export interface InvoiceSearch {
	tab?: (typeof invoiceTabs)[number] | undefined
	search?: string | undefined
	sort?: (typeof invoiceSorts)[number] | undefined
	order?: 'asc' | 'desc' | undefined
	/** Of one company alone. */
	company?: string | undefined
	currency?: string | undefined
}

export interface DeliveriesSearch {
	status?: string | undefined
	endpoint?: string | undefined
	/** Of events. */
	type?: string | undefined
}

/** How signing in at the OpenID Connect provider went, as the server writes it in the address. */
export const openIdOutcomes = ['done', 'denied', 'unverified', 'unknown', 'failed'] as const
export type OpenIdOutcome = (typeof openIdOutcomes)[number]

/** The pages of the settings, in their order; managers and admins see those that are not for everybody. */
export const settingsPages = [
	{ to: '/settings/account', label: 'My account', isForAll: true },
	{ to: '/settings/organization', label: 'Organization', isForAll: false },
	{ to: '/settings/people', label: 'People', isForAll: false },
	{ to: '/settings/pipelines', label: 'Pipelines', isForAll: false },
	{ to: '/settings/keys', label: 'API keys', isForAll: false },
] as const
