import type { Company } from '@remit/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { describe } from '../api/errors.ts'
import { call, read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { useRecordForm } from '../forms/use-record-form.ts'
import { CompanyUpdate } from '../generated/fields.ts'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { toast } from '../ui/toast.ts'
import { Waiting } from '../ui/waiting.tsx'
import { CompanyForm, type CompanyValues, valuesOf } from './company-form.tsx'

const route = getRouteApi('/companies/$id/edit')

export default function EditCompanyPage() {
	const { id } = route.useParams()
	const { data, error } = useQuery(read('companies.get', id))
	if (data) return <EditCompany key={id} company={data} />
	const toList = <Link to="/companies">Companies</Link>
	if (!error) return <Waiting title="Edit company" above={toList} />
	return (
		<>
			<PageHeader title="Edit company" above={toList} />
			<ErrorPanel {...describe(error)} />
		</>
	)
}

function EditCompany({ company: loaded }: { company: Company }) {
	// What the form began with: news from the server comes in by a merge alone.
	const [company] = useState(loaded)
	const { personId } = useSession()
	const { navigate } = useRouter()
	const client = useQueryClient()
	const { mutateAsync } = useWrite('companies.update')
	const { id } = company
	const form = useRecordForm<CompanyValues>({
		values: valuesOf(company),
		version: company.version,
		draftKey: [personId, 'company', id],
		rules: CompanyUpdate,
		save: async (changed, version) => {
			if (Object.keys(changed).length > 0) await mutateAsync([id, changed, { ifMatch: version }])
		},
		reload: async () => {
			const now = await call('companies.get', id)
			client.setQueryData(read('companies.get', id).queryKey, now)
			return { values: valuesOf(now), version: now.version }
		},
	})
	const leave = () => void navigate({ to: '/companies/$id', params: { id } })
	return (
		<>
			<PageHeader title={`Edit ${company.name}`} above={<Link to="/companies">Companies</Link>} />
			<CompanyForm
				form={form}
				action="Save"
				onCancel={leave}
				onSaved={() => {
					toast('The company was saved')
					leave()
				}}
			/>
		</>
	)
}
