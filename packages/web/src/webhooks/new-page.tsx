import type { NewWebhookEndpoint } from '@remit/sdk'
import { Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { WebhookEndpointCreate } from '../generated/fields.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { EndpointForm, type EndpointValues } from './endpoint-form.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const blank: EndpointValues = { url: '', description: null, eventTypes: ['*'], ordering: 'resource', headers: null }

export default function NewEndpointPage() {
	const { personId } = useSession()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('webhooks.endpoints.create')
	const [created, setCreated] = useState<NewWebhookEndpoint>()
	const form = useRecordForm<EndpointValues>({
		values: blank,
		version: 0,
		draftKey: [personId, 'endpoint', 'new'],
		secret: 'headers',
		rules: { url: WebhookEndpointCreate.url, eventTypes: WebhookEndpointCreate.eventTypes },
		save: async ({ headers, url, eventTypes, ...changed }, _version, idempotencyKey) => {
			const body = { ...changed, url: url ?? '', eventTypes: eventTypes ?? blank.eventTypes, ...(headers && { headers }) }
			setCreated(await mutateAsync([body, { idempotencyKey }]))
		},
	})
	return (
		<>
			<PageHeader title="New endpoint" above={<Link to="/webhooks">Webhooks</Link>} />
			<EndpointForm form={form} headerNames={[]} action="Create endpoint" onCancel={() => history.back()} onSaved={() => {}} />
			{created && (
				<SecretDialog
					secret={created.secret}
					onClose={() => void navigate({ to: '/webhooks/endpoints/$id', params: { id: created.id }, replace: true })}
				/>
			)}
		</>
	)
}
