import type { Manifest, ObjectManifest } from './manifest.ts'

const apiVersion = '2.0'

const list = (name: string, scopes: string[], fields: ObjectManifest['fields'], idField: string): ObjectManifest => ({
	name: name.toLowerCase(),
	path: `/api.xro/${apiVersion}/${name}`,
	scopes,
	records: name,
	idField,
	changedField: 'UpdatedDateUTC',
	pagination: { style: 'page', parameter: 'page' },
	pageSize: { parameter: 'pageSize', most: 1000 },
	deletion: 'status',
	fields,
})

export const xero: Manifest = {
	id: 'xero',
	name: 'Xero',
	apiVersion,
	baseUrl: 'https://api.xero.com',
	authTypes: ['oauth2', 'client_credentials'],
	oauth: {
		authorizationUrl: 'https://login.xero.com/identity/connect/authorize',
		tokenUrl: 'https://identity.xero.com/connect/token',
		revocationPath: '/connect/revocation',
		scopes: ['offline_access'],
		authentication: 'basic',
		refreshTokenIdleDays: 60,
	},
	config: {},
	test: { path: '/connections', accountId: '0.tenantId', accountName: '0.tenantName' },
	headers: {},
	objects: [
		list(
			'Contacts',
			['accounting.contacts'],
			[
				{ path: 'ContactID', type: 'string' },
				{ path: 'Name', type: 'string' },
				{ path: 'EmailAddress', type: 'string' },
				{ path: 'TaxNumber', type: 'string' },
				{ path: 'ContactStatus', type: 'string' },
				{ path: 'UpdatedDateUTC', type: 'datetime' },
			],
			'ContactID',
		),
		list(
			'Invoices',
			['accounting.invoices', 'accounting.payments'],
			[
				{ path: 'InvoiceID', type: 'string' },
				{ path: 'InvoiceNumber', type: 'string' },
				{ path: 'Contact.ContactID', type: 'string' },
				{ path: 'Status', type: 'string' },
				{ path: 'CurrencyCode', type: 'string' },
				{ path: 'Total', type: 'number' },
				{ path: 'AmountDue', type: 'number' },
				{ path: 'DueDate', type: 'datetime' },
				{ path: 'UpdatedDateUTC', type: 'datetime' },
			],
			'InvoiceID',
		),
	],
	remainingHeaders: ['x-minlimit-remaining', 'x-daylimit-remaining', 'x-appminlimit-remaining'],
}
