import { getRouteApi, Link } from '@tanstack/react-router'
import { usePages } from '../api/pages.ts'
import { Card } from '../ui/card.tsx'
import { CodeBlock } from '../ui/code-block.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { PageHeader } from '../ui/page-header.tsx'

const route = getRouteApi('/webhooks/event-types/$type')

export default function EventTypePage() {
	// An address with a dot would be that of a file.
	const type = route.useParams().type.replaceAll('-', '.')
	const { rows, failure } = usePages('webhooks.eventTypes.list', { limit: 100 })
	return (
		<>
			<PageHeader title={type} above={<Link to="/webhooks/event-types">Event types</Link>} />
			<Loaded data={rows} failure={failure}>
				{(types) => {
					const found = types.find((one) => one.type === type)
					if (!found)
						return (
							<EmptyState title="There is no such type of event">
								The link may be cut off, or of another version of Remit.
							</EmptyState>
						)
					return (
						<>
							<p>{found.description.replaceAll('`', '')}</p>
							<Card title="Example">
								<CodeBlock label="Example" text={JSON.stringify(found.example, undefined, 2)} />
							</Card>
							<Card title="JSON Schema">
								<CodeBlock label="JSON Schema" text={JSON.stringify(found.schema, undefined, 2)} />
							</Card>
						</>
					)
				}}
			</Loaded>
		</>
	)
}
