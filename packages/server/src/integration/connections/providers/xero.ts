import type { Manifest, ObjectManifest } from './manifest.ts'

const apiVersion = '2.0'

type Differing = 'scopes' | 'fields' | 'idField' | 'query' | 'removal' | 'lookUp' | 'deletion' | 'pageSize'

function list(name: string, differing: Pick<ObjectManifest, Differing>): ObjectManifest {
	const path = `/api.xro/${apiVersion}/${name}`
	return {
		...{ name: name.toLowerCase(), path, records: name, total: 'pagination.itemCount', one: `${path}/{id}` },
		envelope: { name, list: true },
		...{ changedField: 'UpdatedDateUTC', changedFormat: 'dotnet' },
		changes: { style: 'if_modified_since', order: { order: 'UpdatedDateUTC ASC' } },
		pagination: { style: 'page', parameter: 'page' },
		writes: {
			// A POST without an id changes the contact that has the name.
			create: { method: 'PUT', path },
			update: { method: 'POST', path: `${path}/{id}` },
			...{ encoding: 'json', answersPart: false },
		},
		schema: null,
		...differing,
	}
}

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
	config: { tenantId: false },
	test: { path: '/connections', accounts: '', accountId: 'tenantId', accountName: 'tenantName' },
	headers: {},
	objects: [
		list('Contacts', {
			scopes: ['accounting.contacts'],
			idField: 'ContactID',
			query: { includeArchived: 'true' },
			pageSize: { parameter: 'pageSize', most: 1000 },
			removal: { style: 'status', field: 'ContactStatus', to: 'ARCHIVED', from: {} },
			lookUp: {
				style: 'where',
				fields: ['Name', 'EmailAddress', 'ContactNumber', 'AccountNumber', 'TaxNumber'],
				lagMs: 0,
			},
			deletion: { field: 'ContactStatus', values: ['ARCHIVED', 'GDPRREQUEST'] },
			fields: [
				{ path: 'ContactID', type: 'string' },
				{ path: 'Name', type: 'string' },
				{ path: 'EmailAddress', type: 'string' },
				{ path: 'TaxNumber', type: 'string' },
				{ path: 'ContactStatus', type: 'string' },
				{ path: 'UpdatedDateUTC', type: 'datetime' },
			],
		}),
		list('Invoices', {
			scopes: ['accounting.invoices', 'accounting.payments'],
			idField: 'InvoiceID',
			// Bills that were received are in the same list.
			query: { where: 'Type=="ACCREC"' },
			// Each has its lines with it, and a page must fit into 8 MiB.
			pageSize: { parameter: 'pageSize', most: 250 },
			// What was approved can only be voided.
			removal: { style: 'status', field: 'Status', to: 'VOIDED', from: { DRAFT: 'DELETED', SUBMITTED: 'DELETED' } },
			lookUp: { style: 'where', fields: ['InvoiceNumber', 'Reference'], lagMs: 0 },
			deletion: { field: 'Status', values: ['DELETED'] },
			fields: [
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
		}),
	],
	accountHeader: 'xero-tenant-id',
	// Xero forgets keys after minutes.
	idempotencyHeader: { name: 'idempotency-key', maxLength: 128, keptMs: 5 * 60_000 },
	limits: [
		{ remaining: 'x-minlimit-remaining', pauseMs: 60_000 },
		{ remaining: 'x-daylimit-remaining', pauseMs: 3_600_000 },
		{ remaining: 'x-appminlimit-remaining', pauseMs: 60_000 },
	],
	errors: ['Elements.*.ValidationErrors.*.Message', 'Detail', 'Message'],
}
