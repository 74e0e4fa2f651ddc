import type { Deal } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { DealUpdate } from '../generated/fields.ts'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { Waiting } from '../ui/waiting.tsx'
import { DealForm, type DealValues, valuesOf } from './deal-form.tsx'

const route = getRouteApi('/deals/$id/edit')

export default function EditDealPage() {
	const { id } = route.useParams()
	const { data, error } = useQuery(read('deals.get', id))
	if (data) return <EditDeal key={id} deal={data} />
	if (!error) return <Waiting title="Edit deal" above={<Link to="/deals">Deals</Link>} />
	return (
		<>
			<PageHeader title="Edit deal" above={<Link to="/deals">Deals</Link>} />
			<ErrorPanel {...describe(error)} />
		</>
	)
}

function EditDeal({ deal: loaded }: { deal: Deal }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [deal] = useState(loaded)
	const { personId } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('deals.update')
	const { id } = deal
	const form = useRecordForm<DealValues>({
		values: valuesOf(deal),
		version: deal.version,
		draftKey: [personId, 'deal', id],
		rules: DealUpdate,
		save: async (changed, version) => {
			if (Object.keys(changed).length > 0) await mutateAsync([id, changed, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('deals.get', id)
			client.setQueryData(read('deals.get', id).queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/deals/$id', params: { id } })
	return (
		<>
			<PageHeader title={`Edit ${deal.name}`} above={<Link to="/deals">Deals</Link>} />
			<DealForm
				form={form}
				action="Save"
				onCancel={leave}
				onSaved={() => {
					toast('The deal was saved')
					leave()
				}}
			/>
		</>
	)
}
