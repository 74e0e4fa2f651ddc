import type { CurrencySummary } from '@remit/sdk'
import { useSession } from '../api/session.ts'
import { showAmount, showShortAmount } from '../format/amount.ts'
import { showMonth } from '../format/dates.ts'
import { Card } from '../ui/card.tsx'
import { Chart } from '../ui/chart.tsx'
import { Attention } from './attention.tsx'
import './dashboard.css'

/** What stands below the tiles. */
export default function Figures({ summary, today }: { summary: CurrencySummary | undefined; today: number }) {
	return (
		<div className="figures">
			{summary && <Paid summary={summary} />}
			<Attention today={today} />
		</div>
	)
}

function Paid({ summary: { currency, paidByMonth } }: { summary: CurrencySummary }) {
	const { locale } = useSession()
	return (
		<Card title="Paid in the last twelve months">
			<Chart
				title={`Paid by month, ${currency}`}
				bars={paidByMonth.map(({ month, cents }) => ({ label: showMonth(month, locale), value: cents }))}
				format={(cents) => showAmount(cents, currency, locale)}
				formatMark={(cents) => showShortAmount(cents, currency, locale)}
			/>
		</Card>
	)
}
