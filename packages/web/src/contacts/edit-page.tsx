import type { Contact } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { ContactUpdate } from '../generated/fields.ts'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { Waiting } from '../ui/waiting.tsx'
import { ContactForm, type ContactValues, valuesOf } from './contact-form.tsx'

const route = getRouteApi('/contacts/$id/edit')

export default function EditContactPage() {
	const { id } = route.useParams()
	const { data, error } = useQuery(read('contacts.get', id))
	if (data) return <EditContact key={id} contact={data} />
	if (!error) return <Waiting title="Edit contact" above={<Link to="/contacts">Contacts</Link>} />
	return (
		<>
			<PageHeader title="Edit contact" above={<Link to="/contacts">Contacts</Link>} />
			<ErrorPanel {...describe(error)} />
		</>
	)
}

function EditContact({ contact: loaded }: { contact: Contact }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [contact] = useState(loaded)
	const { personId } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('contacts.update')
	const { id } = contact
	const form = useRecordForm<ContactValues>({
		values: valuesOf(contact),
		version: contact.version,
		draftKey: [personId, 'contact', id],
		rules: ContactUpdate,
		save: async (changed, version) => {
			if (Object.keys(changed).length > 0) await mutateAsync([id, changed, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('contacts.get', id)
			client.setQueryData(read('contacts.get', id).queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/contacts/$id', params: { id } })
	return (
		<>
			<PageHeader title={`Edit ${contact.name}`} above={<Link to="/contacts">Contacts</Link>} />
			<ContactForm
				form={form}
				action="Save"
				onCancel={leave}
				onSaved={() => {
					toast('The contact was saved')
					leave()
				}}
			/>
		</>
	)
}
