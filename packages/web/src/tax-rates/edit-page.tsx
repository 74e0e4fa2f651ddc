import type { TaxRate } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { Archive, ArchiveRestore } from 'lucide-react'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { TaxRateUpdate } from '../generated/fields.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { Waiting } from '../ui/waiting.tsx'
import { TaxRateForm, type TaxRateValues, valuesOf } from './tax-rate-form.tsx'

const route = getRouteApi('/tax-rates/$id/edit')
const toList = <Link to="/tax-rates">Tax rates</Link>

export default function EditTaxRatePage() {
	const { id } = route.useParams()
	const { data, error } = useQuery(read('taxRates.get', id))
	if (data) return <EditTaxRate key={id} rate={data} />
	if (!error) return <Waiting title="Tax rate" above={toList} />
	return (
		<>
			<PageHeader title="Tax rate" above={toList} />
			<ErrorPanel {...describe(error)} />
		</>
	)
}

function EditTaxRate({ rate: loaded }: { rate: TaxRate }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [rate] = useState(loaded)
	const { personId, may } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('taxRates.update')
	const { id } = rate
	const form = useRecordForm<TaxRateValues>({
		values: valuesOf(rate),
		version: rate.version,
		draftKey: [personId, 'tax rate', id],
		rules: { ...TaxRateUpdate, percent: { ...TaxRateUpdate.percent, required: true } },
		save: async ({ label, percent, ...changed }, version) => {
			// Without a label of its own it has its name.
			const labelled = label === undefined ? {} : { label: label ?? form.form.getValues('name') }
			const body = { ...changed, ...labelled, ...(percent && { percent }) }
			if (Object.keys(body).length > 0) await mutateAsync([id, body, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('taxRates.get', id)
			client.setQueryData(read('taxRates.get', id).queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/tax-rates' })
	return (
		<>
			<PageHeader
				title={`Edit ${rate.name}`}
				above={toList}
				beside={loaded.active ? undefined : <Badge>Archived</Badge>}
				actions={may('tax_rates:write') && <ArchiveButton rate={loaded} />}
			/>
			<TaxRateForm
				form={form}
				action="Save"
				isArchived={!rate.active}
				onCancel={leave}
				onSaved={() => {
					toast('The tax rate was saved')
					leave()
				}}
			/>
		</>
	)
}

/** Done at once, since Undo brings it back. */
function ArchiveButton({ rate: { id, name, active } }: { rate: TaxRate }) {
	const { mutate, isPending, error } = useWrite('taxRates.update')
	const { navigate } = useRouter()
	const turn = () =>
		mutate([id, { active: !active }], {
			onSuccess: () => {
				const undo = { label: 'Undo', onPress: () => mutate([id, { active }]) }
				toast(`${name} was ${active ? 'archived' : 'restored'}`, undo)
				void navigate({ to: '/tax-rates' })
			},
		})
	return (
		<>
			{error && <ErrorPanel isSmall {...describe(error)} />}
			<Button icon={active ? <Archive /> : <ArchiveRestore />} isPending={isPending} onPress={turn}>
				{active ? 'Archive' : 'Restore'}
			</Button>
		</>
	)
}
