// Code that must compile, and code that must not: tsc checks it, and the type assertions do nothing at run time.
import { expectTypeOf, test } from 'vitest'
import * as sdk from './index.ts'
import { ApiError, type Remit } from './index.ts'

declare const remit: Remit

/** Compiled, never run. */
const compiled = (_: () => unknown) => {}

test('results are what the contract names', () => {
	compiled(() => {
		expectTypeOf(remit.invoices.create()).resolves.toEqualTypeOf<sdk.InvoiceCreated>()
		expectTypeOf(remit.invoices.get('inv_1')).resolves.toEqualTypeOf<sdk.ExpandedInvoice>()
		expectTypeOf(remit.invoices.update('inv_1', {})).resolves.toEqualTypeOf<sdk.InvoiceUpdated>()
		expectTypeOf(remit.invoices.delete('inv_1')).resolves.toEqualTypeOf<sdk.Ok>()
		expectTypeOf(remit.invoices.preview({})).resolves.toEqualTypeOf<sdk.InvoicePreview>()
		expectTypeOf(remit.invoices.list()).resolves.toEqualTypeOf<sdk.Page<sdk.ExpandedInvoice>>()
		expectTypeOf(remit.invoices.list()).resolves.toExtend<sdk.Page<sdk.Invoice>>()
		expectTypeOf(remit.invoices.list({ fields: 'summary' })).resolves.toEqualTypeOf<sdk.Page<sdk.InvoiceSummary>>()
		expectTypeOf(remit.companies.list()).resolves.toEqualTypeOf<sdk.Page<sdk.Company, sdk.CompanyListMeta>>()
		expectTypeOf(remit.invoices.get('inv_1')).toExtend<Promise<sdk.Invoice>>()
	})
})

test('a run is a promise of the run that can be followed', () => {
	compiled(() => {
		expectTypeOf(remit.syncs.run('syn_1')).toExtend<Promise<sdk.SyncRun>>()
		expectTypeOf(remit.syncs.run('syn_1', { mode: 'full' }).done()).resolves.toEqualTypeOf<sdk.SyncRun>()
		expectTypeOf(remit.syncs.runs.get('syn_1', 'run_1').progress()).toExtend<AsyncIterable<sdk.SyncRun>>()
	})
})

test('pages and records have their types', () => {
	compiled(async () => {
		expectTypeOf((await remit.invoices.list()).meta).toEqualTypeOf<undefined>()
		expectTypeOf((await remit.companies.list()).meta.total).toEqualTypeOf<number>()
		for await (const company of remit.companies.list()) expectTypeOf(company).toEqualTypeOf<sdk.Company>()
	})
})

test('resources are nested, and files are bytes', () => {
	compiled(() => {
		expectTypeOf(remit.invoices.createFromTimeEntries).parameter(0).toEqualTypeOf<sdk.TimeEntriesInvoice>()
		expectTypeOf(remit.invoices.clientLink.create('inv_1')).resolves.toEqualTypeOf<sdk.InvoiceLink>()
		expectTypeOf(remit.invoices.clientLink.delete('inv_1')).resolves.toEqualTypeOf<sdk.Ok>()
		expectTypeOf(remit.invoices.paymentLink.get('inv_1')).resolves.toEqualTypeOf<sdk.InvoiceLink>()
		expectTypeOf(remit.invoices.public.get('token')).resolves.toEqualTypeOf<sdk.PublicInvoice>()
		expectTypeOf(remit.invoices.public.pdf('token')).resolves.toEqualTypeOf<Uint8Array>()
		expectTypeOf(remit.invoices.pdf('inv_1')).resolves.toEqualTypeOf<Uint8Array>()
		expectTypeOf(remit.organization.get()).resolves.toEqualTypeOf<sdk.OrganizationSettings>()
	})
})

test('the types of events are completed where an endpoint subscribes to them, and later ones are taken', () => {
	compiled(() => {
		type Pattern = sdk.WebhookEndpointCreate['eventTypes'][number]
		expectTypeOf<Extract<Pattern, 'invoice.paid' | 'invoice.*' | 'webhook.endpoint.*' | '*'>>().toEqualTypeOf<
			'invoice.paid' | 'invoice.*' | 'webhook.endpoint.*' | '*'
		>()
		return remit.webhooks.endpoints.create({
			url: 'https://acme.example',
			eventTypes: ['invoice.paid', 'invoice.of_a_later_version'],
		})
	})
})

test('a read with ifNoneMatch may give nothing', () => {
	compiled(() => {
		expectTypeOf(remit.companies.get('cmp_1', { ifNoneMatch: 3 })).resolves.toEqualTypeOf<sdk.Company | undefined>()
		expectTypeOf(remit.companies.get('cmp_1', { timeout: 3 })).resolves.toEqualTypeOf<sdk.Company>()
	})
})

test('a change takes changes of its record', () => {
	compiled(() => {
		remit.companies.change('cmp_1', (company) => ({ name: company.name.trim() }))
		// @ts-expect-error
		remit.companies.change('cmp_1', () => ({ nam: 'A' }))
	})
})

test('a required body is a required argument', () => {
	compiled(() => {
		remit.invoices.create()
		// @ts-expect-error
		remit.companies.create()
		// @ts-expect-error
		remit.invoices.update('inv_1')
		// @ts-expect-error
		remit.companies.create({ domain: 'acme.example' })
		// @ts-expect-error
		remit.companies.create({ name: 'Acme', nmae: 'Acme' })
		// @ts-expect-error
		remit.invoices.list({ status: 'lost' })
	})
})

test('options compile only where the operation takes them', () => {
	compiled(() => {
		remit.invoices.update('inv_1', {}, { ifMatch: 3, timeout: 1, signal: AbortSignal.abort(), headers: {}, requestId: 'x' })
		remit.invoices.delete('inv_1', { ifMatch: '"3"' })
		remit.companies.create({ name: 'Acme' }, { idempotencyKey: 'k' })
		remit.invoices.send('inv_1', { to: 'client@acme.example' }, { idempotencyKey: 'k' })
		remit.invoices.paymentLink.create('inv_1', { idempotencyKey: 'k' })
		// @ts-expect-error
		remit.invoices.create({}, { ifMatch: 3 })
		// @ts-expect-error
		remit.invoices.get('inv_1', { ifMatch: 3 })
		// @ts-expect-error
		remit.invoices.list({}, { idempotencyKey: 'k' })
		// @ts-expect-error
		remit.invoices.update('inv_1', {}, { idempotencyKey: 'k' })
		// @ts-expect-error
		remit.invoices.preview({}, { idempotencyKey: 'k' })
	})
})

test('an error’s code may be unknown', () => {
	compiled(() => {
		const error: unknown = undefined
		if (error instanceof ApiError) expectTypeOf(error.code).toEqualTypeOf<sdk.ErrorCode | undefined>()
	})
})

test('an error of an operation has its codes, and no other', () => {
	compiled(() => {
		const error: unknown = undefined
		if (!sdk.failed<'companies.history'>(error)) throw error
		expectTypeOf(error).toExtend<ApiError>()
		// @ts-expect-error the contract lists no such code for it
		if (error.code === 'invalid_vat_id') return
		switch (error.code) {
			case 'invalid_request':
			case 'ambiguous_credentials':
			case 'missing_credentials':
			case 'session_ended':
			case 'invalid_credentials':
			case 'insufficient_scope':
			case 'company_not_found':
			case 'rate_limited':
				return
			default:
				error.code satisfies never
		}
	})
	compiled(() => {
		const error: unknown = undefined
		if (sdk.failed(error)) return error.code === 'company_not_found' || error.code === 'invalid_vat_id'
		// @ts-expect-error the server failed, and rejected nothing
		if (sdk.failed<'invoices.send'>(error)) return error.code === 'email_delivery_failed'
		return
	})
	compiled(() => {
		// @ts-expect-error it is no operation
		sdk.failed<'companies.rename'>(undefined)
	})
})
