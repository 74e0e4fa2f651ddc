import type { Pipeline } from '@remit/sdk'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { usePipelines } from '../forms/pipelines.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { DealCreate } from '../generated/fields.ts'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { DealForm, type DealValues } from './deal-form.tsx'

const route = getRouteApi('/deals/new')

export default function NewDealPage() {
	const { pipelines, failure } = usePipelines()
	return (
		<>
			<PageHeader title="New deal" above={<Link to="/deals">Deals</Link>} />
			<Loaded data={pipelines} failure={failure}>
				{([first]) => <NewDeal pipeline={first} />}
			</Loaded>
		</>
	)
}

function NewDeal({ pipeline }: { pipeline: Pipeline | undefined }) {
	const { personId, currency } = useSession()
	const { companyId = null } = route.useSearch()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('deals.create')
	const created = useRef('')
	const [blank] = useState<DealValues>({
		name: '',
		companyId,
		contactId: null,
		pipelineId: pipeline?.id ?? '',
		stage: pipeline?.stages[0]?.key ?? '',
		autoAdvance: true,
		currency,
		valueCents: null,
		hourlyRateCents: null,
	})
	const form = useRecordForm<DealValues>({
		values: blank,
		version: 0,
		draftKey: [personId, 'deal', 'new'],
		rules: DealCreate,
		save: async (changed, _version, idempotencyKey) => {
			const { id } = await mutateAsync([{ ...blank, ...changed, name: changed.name ?? '' }, { idempotencyKey }])
			created.current = id
		},
	})
	return (
		<DealForm
			form={form}
			action="Create deal"
			onCancel={() => history.back()}
			onSaved={() => {
				toast('The deal was created')
				void navigate({ to: '/deals/$id', params: { id: created.current }, replace: true })
			}}
		/>
	)
}
