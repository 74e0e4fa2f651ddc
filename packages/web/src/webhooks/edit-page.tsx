import type { WebhookEndpoint } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { WebhookEndpointCreate } from '../generated/fields.ts'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { EndpointForm, type EndpointValues } from './endpoint-form.tsx'

const route = getRouteApi('/webhooks/endpoints/$id/edit')

const valuesOf = ({ url, description, eventTypes, ordering }: WebhookEndpoint): EndpointValues => ({
	url,
	description,
	eventTypes,
	ordering,
	headers: null,
})

export default function EditEndpointPage() {
	const { id } = route.useParams()
	const query = useQuery(read('webhooks.endpoints.get', id))
	return (
		<>
			<PageHeader title="Edit endpoint" above={<Link to="/webhooks">Webhooks</Link>} />
			<Loaded data={query.data} failure={failureOf(query)}>
				{(endpoint) => <EditEndpoint key={id} endpoint={endpoint} />}
			</Loaded>
		</>
	)
}

function EditEndpoint({ endpoint: loaded }: { endpoint: WebhookEndpoint }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [endpoint] = useState(loaded)
	const { personId } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('webhooks.endpoints.update')
	const { id } = endpoint
	const form = useRecordForm<EndpointValues>({
		values: valuesOf(endpoint),
		version: endpoint.version,
		draftKey: [personId, 'endpoint', id],
		secret: 'headers',
		rules: { url: WebhookEndpointCreate.url, eventTypes: WebhookEndpointCreate.eventTypes },
		save: async ({ headers, ...changed }, version) => {
			const body = { ...changed, ...(headers && { headers }) }
			if (Object.keys(body).length > 0) await mutateAsync([id, body, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('webhooks.endpoints.get', id)
			client.setQueryData(read('webhooks.endpoints.get', id).queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/webhooks/endpoints/$id', params: { id } })
	return (
		<EndpointForm
			form={form}
			headerNames={endpoint.headerNames}
			action="Save"
			onCancel={leave}
			onSaved={() => {
				toast('The endpoint was saved')
				leave()
			}}
		/>
	)
}
