import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { read } from '../api/query.ts'

/** A record of Remit by its name, where it has a page. */
export function RecordLink({ id }: { id: string }) {
	const isCompany = id.startsWith('cmp_')
	const { data } = useQuery({ ...read('companies.get', id), enabled: isCompany })
	if (!isCompany) return <code>{id}</code>
	return (
		<Link to="/companies/$id" params={{ id }}>
			{data?.name ?? id}
		</Link>
	)
}
