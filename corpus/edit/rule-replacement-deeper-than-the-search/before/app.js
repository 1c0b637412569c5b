var plugin = {
        draw: function(chart) {
            var ctx = chart.ctx;
            chart.sets.forEach(function(set) {
                ctx.fill(set);
            });
        }
};
