import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
	Building2,
	Clock,
	Handshake,
	House,
	Percent,
	Plug,
	ReceiptText,
	RefreshCw,
	Settings,
	Shuffle,
	Users,
	Webhook,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { settingsPages } from '../api/addresses.ts'
import { sessionQuery } from '../api/session.ts'

/** The places of the application, in their order; the first four are in the bar of a phone too, whose search leads to all. */
const places = [
	{ to: '/', label: 'Dashboard', icon: House },
	{ to: '/invoices', label: 'Invoices', icon: ReceiptText },
	{ to: '/deals', label: 'Deals', icon: Handshake },
	{ to: '/time', label: 'Time', icon: Clock },
	{ to: '/companies', label: 'Companies', icon: Building2 },
	{ to: '/contacts', label: 'Contacts', icon: Users },
	{ to: '/tax-rates', label: 'Tax rates', icon: Percent },
	{ to: '/connections', label: 'Connections', icon: Plug },
	{ to: '/syncs', label: 'Syncs', icon: RefreshCw },
	{ to: '/mappings', label: 'Mappings', icon: Shuffle },
	{ to: '/webhooks', label: 'Webhooks', icon: Webhook },
	{ to: '/settings', label: 'Settings', icon: Settings },
] as const

/** The places and the pages of the settings that the role of the person opens; all of them while nobody knows it. */
export function useOpenPlaces() {
	const { data: session } = useQuery({ ...sessionQuery, enabled: false })
	const isManager = !session || session.is('manager')
	return {
		open: places.filter(({ to }) => to !== '/webhooks' || isManager),
		settings: settingsPages.filter(({ isForAll }) => isForAll || isManager),
	}
}

export function Navigation({ children }: { children?: ReactNode }) {
	return (
		<nav className="places" aria-label="Main">
			{useOpenPlaces().open.map(({ to, label, icon: Icon }) => (
				<Link key={to} to={to} className="place" activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
					<Icon size={18} aria-hidden="true" />
					<span>{label}</span>
				</Link>
			))}
			{children}
		</nav>
	)
}
