import { useRouter } from '@tanstack/react-router'
import { useRef } from 'react'
import { useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { CompanyCreate } from '../generated/fields.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { blankCompany, CompanyForm, type CompanyValues } from './company-form.tsx'

export default function NewCompanyPage() {
	const { personId } = useSession()
	const { navigate, history } = useRouter()
	const { mutateAsync } = useWrite('companies.create')
	const created = useRef('')
	const form = useRecordForm<CompanyValues>({
		values: blankCompany,
		version: 0,
		draftKey: [personId, 'company', 'new'],
		rules: CompanyCreate,
		save: async (changed, _version, idempotencyKey) => {
			const { id } = await mutateAsync([{ ...changed, name: changed.name ?? '' }, { idempotencyKey }])
			created.current = id
		},
	})
	return (
		<>
			<PageHeader title="New company" />
			<CompanyForm
				form={form}
				action="Create company"
				onCancel={() => history.back()}
				onSaved={() => {
					toast('The company was created')
					void navigate({ to: '/companies/$id', params: { id: created.current }, replace: true })
				}}
			/>
		</>
	)
}
