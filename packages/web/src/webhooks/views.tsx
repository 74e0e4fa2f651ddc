import { Link } from '@tanstack/react-router'
import { Tabs } from '../ui/tabs.tsx'

/** The three lists about webhooks. */
export const Views = () => (
	<Tabs label="Webhooks">
		<Link to="/webhooks" activeOptions={{ exact: true }}>
			Endpoints
		</Link>
		<Link to="/webhooks/deliveries">Deliveries</Link>
		<Link to="/webhooks/event-types">Event types</Link>
	</Tabs>
)
