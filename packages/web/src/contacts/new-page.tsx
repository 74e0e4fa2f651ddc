import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { ContactCreate } from '../generated/fields.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { ContactForm, type ContactValues } from './contact-form.tsx'

const route = getRouteApi('/contacts/new')

export default function NewContactPage() {
	const { personId } = useSession()
	const { companyId = null } = route.useSearch()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('contacts.create')
	const created = useRef('')
	const [blank] = useState<ContactValues>({ name: '', email: null, phone: null, companyId })
	const form = useRecordForm<ContactValues>({
		values: blank,
		version: 0,
		draftKey: [personId, 'contact', 'new'],
		rules: ContactCreate,
		save: async (changed, _version, idempotencyKey) => {
			const { id } = await mutateAsync([{ ...blank, ...changed }, { idempotencyKey }])
			created.current = id
		},
	})
	return (
		<>
			<PageHeader title="New contact" above={<Link to="/contacts">Contacts</Link>} />
			<ContactForm
				form={form}
				action="Create contact"
				onCancel={() => history.back()}
				onSaved={() => {
					toast('The contact was created')
					void navigate({ to: '/contacts/$id', params: { id: created.current }, replace: true })
				}}
			/>
		</>
	)
}
