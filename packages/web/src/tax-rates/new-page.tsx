import { useQuery } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { taxRatesQuery } from '../api/first-reads.ts'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { TaxRateCreate } from '../generated/fields.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { toast } from '../ui/toast.ts'
import { TaxRateForm, type TaxRateValues } from './tax-rate-form.tsx'

export default function NewTaxRatePage() {
	const { data: rates, isPending } = useQuery({ ...taxRatesQuery, staleTime: 60_000 })
	return (
		<>
			<PageHeader title="New tax rate" above={<Link to="/tax-rates">Tax rates</Link>} />
			{isPending ? <Skeleton /> : <NewTaxRate isFirst={!rates?.data.some(({ isDefault }) => isDefault)} />}
		</>
	)
}

/** The first one is offered first: who saves a rate means to use it. */
function NewTaxRate({ isFirst }: { isFirst: boolean }) {
	const { personId } = useSession()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('taxRates.create')
	const [blank] = useState<TaxRateValues>({ name: '', label: null, percent: null, inclusive: false, isDefault: isFirst })
	const form = useRecordForm<TaxRateValues>({
		values: blank,
		version: 0,
		draftKey: [personId, 'tax rate', 'new'],
		rules: { ...TaxRateCreate, label: { ...TaxRateCreate.label, nullable: true } },
		save: async (changed, _version, idempotencyKey) => {
			const { label, percent, ...values } = { ...blank, ...changed }
			await mutateAsync([{ ...values, percent: percent ?? '', ...(label && { label }) }, { idempotencyKey }])
		},
	})
	return (
		<TaxRateForm
			form={form}
			action="Create tax rate"
			onCancel={() => history.back()}
			onSaved={() => {
				toast('The tax rate was created')
				void navigate({ to: '/tax-rates', replace: true })
			}}
		/>
	)
}
