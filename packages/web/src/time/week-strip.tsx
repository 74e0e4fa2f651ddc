import { useSession } from '../api/session.ts'
import { showHours } from '../format/dates.ts'

/** The hours of each day at a glance. */
export function WeekStrip({ days, today }: { days: readonly { day: string; seconds: number }[]; today: string }) {
	const { locale } = useSession()
	const name = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
	return (
		<ol className="week-strip" aria-label="Hours of each day">
			{days.map(({ day, seconds }) => (
				<li key={day} data-today={day === today || undefined}>
					<span>{`${name.format(new Date(`${day}T00:00:00Z`))} ${Number(day.slice(-2))}`}</span>
					<strong>{seconds > 0 ? showHours(seconds) : '–'}</strong>
				</li>
			))}
		</ol>
	)
}
