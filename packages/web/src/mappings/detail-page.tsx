import type { Mapping } from '@remit/sdk'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { read, useWrite } from '../api/query.ts'
import { useSession } from '../api/session.ts'
import { statusOf } from '../format/names.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { InDialog } from '../ui/places.tsx'
import { toast } from '../ui/toast.ts'
import { Editor } from './editor.tsx'
import { Fields } from './fields.tsx'
import { Issues } from './issues.tsx'
import { useSides } from './use-sides.ts'

const Delete = onFirstUse(() => import('./delete-mapping.tsx'), InDialog)
const route = getRouteApi('/mappings/$id')

export default function MappingPage() {
	const { id } = route.useParams()
	const query = useQuery(read('mappings.get', id))
	const { may } = useSession()
	const showSides = useSides()
	const mapping = query.data
	const { label, tone } = statusOf(mapping?.status ?? '')
	return (
		<>
			<PageHeader
				title={mapping?.name ?? 'Mapping'}
				above={<Link to="/mappings">Mappings</Link>}
				beside={mapping && <Badge tone={tone}>{label}</Badge>}
				actions={mapping && may('write') && <Actions mapping={mapping} />}
			/>
			<Loaded data={mapping} failure={failureOf(query)}>
				{(found) => (
					<>
						<p className="quiet-text">{showSides(found)}</p>
						<Issues validation={found.validation} />
						{may('write') ? <Editor key={id} mapping={found} /> : <Fields fields={found.fields} />}
					</>
				)}
			</Loaded>
		</>
	)
}

function Actions({ mapping }: { mapping: Mapping }) {
	const { id, status, version, validation } = mapping
	const { may } = useSession()
	const [isDeleting, setDeleting] = useState(false)
	const write = useWrite('mappings.update')
	const trouble = failureOf(write)
	const set = (next: 'active' | 'archived', said: string) =>
		write.mutate([id, { status: next }, { ifMatch: version }], { onSuccess: () => toast(said) })
	return (
		<>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			{may('admin') && (
				<Button look="quiet" onPress={() => setDeleting(true)}>
					Delete
				</Button>
			)}
			{status === 'active' ? (
				<Button isPending={write.isPending} onPress={() => set('archived', 'The mapping was put away')}>
					Archive
				</Button>
			) : (
				<Button
					isPending={write.isPending}
					isDisabled={!validation.valid}
					onPress={() => set('active', 'The mapping can be used')}
				>
					Activate
				</Button>
			)}
			{isDeleting && <Delete mapping={mapping} onClose={() => setDeleting(false)} />}
		</>
	)
}
