import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useRef } from 'react'
import { taxRatesQuery } from '../../api/first-reads.ts'
import { failureOf } from '../../api/pages.ts'
import { useWrite } from '../../api/query.ts'
import { useSession } from '../../api/session.ts'
import { addDays, dayIn } from '../../format/dates.ts'
import { useRecordForm } from '../../forms/use-record-form.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { toast } from '../../ui/toast.ts'
import { check, nameOf, rules } from './checks.ts'
import { Editor } from './editor.tsx'
import { blankLine, type InvoiceValues, inputOf, usualTax, written } from './values.ts'

const route = getRouteApi('/invoices/new')

export default function NewInvoicePage() {
	const rates = useQuery({ ...taxRatesQuery, staleTime: 60_000 })
	return (
		<>
			<PageHeader title="New invoice" above={<Link to="/invoices">Invoices</Link>} />
			{/* Not without the rates: its lines would have no tax. */}
			<Loaded data={rates.data} failure={failureOf(rates)}>
				{({ data }) => <NewInvoice tax={usualTax(data)} />}
			</Loaded>
		</>
	)
}

function NewInvoice({ tax }: { tax: string }) {
	const { company } = route.useSearch()
	const { personId, currency, timeZone } = useSession()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('invoices.create')
	const created = useRef({ id: '', invoiceNumber: '' })
	const initial = useRef<InvoiceValues>({
		companyId: company ?? null,
		invoiceNumber: '',
		issuedDate: null,
		dueDate: addDays(dayIn(timeZone, Date.now()), 30),
		currency,
		lineItems: [blankLine(tax)],
		notes: null,
		paymentTerms: null,
	})
	const form = useRecordForm<InvoiceValues>({
		values: initial.current,
		version: 0,
		draftKey: [personId, 'invoice', 'new'],
		rules,
		check,
		nameOf: (name): string => nameOf(name, form.form.getValues('lineItems')),
		save: async (_changed, _version, idempotencyKey) => {
			const { paymentTerms, ...values } = form.form.getValues()
			const lineItems = written(values.lineItems)
			// Without terms the invoice gets those of the organization.
			const input = inputOf({ ...values, lineItems, ...(paymentTerms && { paymentTerms }) }, values.currency)
			created.current = await mutateAsync([input, { idempotencyKey }])
		},
	})
	const open = (isSending: boolean) => {
		toast(`${created.current.invoiceNumber} was saved`)
		const { id } = created.current
		void navigate({ to: '/invoices/$id', params: { id }, search: isSending ? { send: true } : {}, replace: true })
	}
	return (
		<Editor
			form={form}
			action="Save draft"
			onSaved={() => open(false)}
			onSavedToSend={() => open(true)}
			onCancel={() => history.back()}
		/>
	)
}
