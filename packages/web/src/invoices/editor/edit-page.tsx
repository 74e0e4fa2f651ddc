import type { ExpandedInvoice } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useDeferredValue, useRef, useState } from 'react'
import { describe } from '../../api/errors.ts'
import { invoiceQuery } from '../../api/first-reads.ts'
import { call, useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { useRecordForm } from '../../forms/use-record-form.ts'
import { Banner } from '../../ui/banner.tsx'
import { ErrorPanel } from '../../ui/error-panel.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { toast } from '../../ui/toast.ts'
import { Waiting } from '../../ui/waiting.tsx'
import { check, nameOf, rules } from './checks.ts'
import { Editor } from './editor.tsx'
import { type InvoiceValues, inputOf, valuesOf, written } from './values.ts'

const route = getRouteApi('/invoices/$id/edit')
const toList = <Link to="/invoices">Invoices</Link>

export default function EditInvoicePage() {
	const { id } = route.useParams()
	const { data, error, refetch } = useQuery(invoiceQuery(id))
	// The form takes a phone some hundred ms: deferred, React gives way to the browser meanwhile.
	const isDrawn = useDeferredValue(data !== undefined)
	if (isDrawn && data) return <EditInvoice key={id} invoice={data} />
	if (!error) return <Waiting title="Edit invoice" above={toList} />
	const { isRepeatable, ...trouble } = describe(error)
	return (
		<>
			<PageHeader title="Edit invoice" above={toList} />
			<ErrorPanel {...trouble} onRetry={isRepeatable ? () => void refetch() : undefined} />
		</>
	)
}

function EditInvoice({ invoice: loaded }: { invoice: ExpandedInvoice }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [invoice] = useState(loaded)
	const { personId, timeZone } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('invoices.update')
	const { id, status, taxRate, taxLabel } = invoice
	const [values] = useState(() => valuesOf(invoice, timeZone))
	/** The lines that the server has: of those only the changes are sent. */
	const stored = useRef(values.lineItems)
	const form = useRecordForm<InvoiceValues>({
		values,
		version: invoice.version,
		draftKey: [personId, 'invoice', id],
		rules,
		check,
		nameOf: (name): string => nameOf(name, form.form.getValues('lineItems')),
		save: async (changed, version) => {
			const { currency, lineItems } = form.form.getValues()
			// Another currency has other minor units, and so do the prices.
			const isPriced = changed.lineItems !== undefined || changed.currency !== undefined
			const all = isPriced ? { ...changed, lineItems: written(lineItems) } : changed
			if (Object.keys(changed).length > 0) await mutateAsync([id, inputOf(all, currency, stored.current), { ifMatch: version }])
		},
		sentOf: (all) => ({ ...all, lineItems: written(all.lineItems) }),
		reload: async () => {
			const now = await call('invoices.get', id, { expand: ['company', 'deal'] })
			client.setQueryData(invoiceQuery(id).queryKey, now)
			const theirs = valuesOf(now, timeZone)
			stored.current = theirs.lineItems
			return { values: theirs, version: now.version }
		},
	})
	const leave = (isSending = false) =>
		void navigate({ to: '/invoices/$id', params: { id }, search: isSending ? { send: true } : {} })
	const saved = (isSending: boolean) => {
		toast(`${form.form.getValues('invoiceNumber') || invoice.invoiceNumber} was saved`)
		leave(isSending)
	}
	return (
		<>
			<PageHeader title={`Edit ${invoice.invoiceNumber}`} above={toList} />
			{status !== 'draft' && <Banner>The client has this invoice already. Send it again when it has changed.</Banner>}
			<Editor
				form={form}
				action="Save"
				own={{ taxRate, taxLabel }}
				onSaved={() => saved(false)}
				onSavedToSend={status === 'cancelled' ? undefined : () => saved(true)}
				onCancel={() => leave()}
			/>
		</>
	)
}
